//===- ModelConfig.cpp - reads a config.json ------------------------------===//

#include "lib/Model/ModelConfig.h"
#include "lib/Input/InputFile.h"
#include "lib/Input/ParserLimits.h"
#include "lib/Model/Families.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <vector>

using namespace llvm;
using namespace braid;

/// Returns the text between the quotes at the start of `json`.
static StringRef stringAt(StringRef json) {
  size_t end = 1;
  while (json[end] != '"')
    end += json[end] == '\\' ? 2 : 1;
  return json.slice(1, end);
}

/// Returns the first key, as written, that one object of a valid JSON text contains twice. A parser keeps only one of
/// the two values, and would silently ignore the other.
static std::optional<StringRef> repeatedKey(StringRef json) {
  std::vector<StringSet<>> objects; // the open objects; an array has no keys
  for (size_t i = 0; i < json.size(); ++i) {
    if (json[i] == '{' || json[i] == '[') {
      objects.emplace_back();
    } else if (json[i] == '}' || json[i] == ']') {
      objects.pop_back();
    } else if (json[i] == '"') {
      StringRef text = stringAt(json.substr(i));
      i += text.size() + 1;
      bool isKey = json.substr(i + 1).ltrim().starts_with(":");
      if (isKey && !objects.back().insert(text).second)
        return text;
    }
  }
  return std::nullopt;
}

/// Settings of every family that do not affect the computation: the origin of the file, special tokens, types of
/// the stored weights, how Transformers runs the model, defaults of its generation, and heads for other tasks.
static constexpr StringLiteral kWithoutEffect[] = {
    "model_type", "architectures", "auto_map", "transformers_version", "_name_or_path", "name_or_path", "_commit_hash",
    "finetuning_task", "task_specific_params", "tokenizer_class", "prefix", "unsloth_fixed", "unsloth_version",
    "is_llama_config", "transformers.js_config", "custom_pipelines", "num_steps",
    // Tokens.
    "bos_token_id", "eos_token_id", "sep_token_id", "decoder_start_token_id", "bad_words_ids", "max_sequence_length",
    "model_max_length",
    // Types of stored weights.
    "dtype", "torch_dtype", "use_bfloat16",
    // How Transformers runs the model.
    "use_cache", "cache_implementation", "gradient_checkpointing", "attn_implementation", "_attn_implementation",
    "_attn_implementation_autoset", "output_past", "chunk_size_feed_forward", "output_attentions",
    "output_hidden_states", "return_dict", "torchscript", "tf_legacy_loss",
    // Generation.
    "max_length", "min_length", "do_sample", "early_stopping", "num_beams", "num_beam_groups", "diversity_penalty",
    "temperature", "top_k", "top_p", "typical_p", "repetition_penalty", "length_penalty", "no_repeat_ngram_size",
    "encoder_no_repeat_ngram_size", "num_return_sequences", "output_scores", "return_dict_in_generate",
    "forced_bos_token_id", "forced_eos_token_id", "remove_invalid_values", "exponential_decay_length_penalty",
    "suppress_tokens", "begin_suppress_tokens",
    // Heads for other tasks.
    "id2label", "label2id", "num_labels", "_num_labels", "problem_type", "classifier_dropout"};

/// Fails on settings of every family that would change the model if they differ from their nearly universal values.
static void refuseOthers(Settings &settings) {
  for (StringRef key :
       {"is_decoder", "is_encoder_decoder", "add_cross_attention", "tie_encoder_decoder", "rope_interleaved"})
    settings.refuseUnless(key, false);
  settings.refuseUnless("cross_attention_hidden_size", nullptr);
  settings.refuseUnless("pruned_heads", json::Object());
}

static Expected<ModelConfig> readFamily(const json::Object &object, const std::string &path) {
  std::string type = object.getString("model_type").value_or("").str();
  const Family *family = findFamily(type);
  if (!family)
    return createStringError(path + ": " + unknownFamilyError(type));
  Settings settings(object, path);
  DecoderConfig config;
  family->describe(config);
  family->read(settings, config);
  refuseOthers(settings);
  settings.ignore(kWithoutEffect);
  if (Error error = settings.finish())
    return Expected<ModelConfig>(std::move(error));
  return config;
}

Expected<ModelConfig> braid::readModelConfig(StringRef given) {
  SmallString<128> file = given;
  if (sys::fs::is_directory(given))
    sys::path::append(file, "config.json");
  std::string path(file);
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readInputFile(path);
  if (!buffer)
    return createStringError("%s: %s", path.c_str(), toString(buffer.takeError()).c_str());
  Expected<json::Value> value = parseJson((*buffer)->getBuffer());
  if (!value)
    return createStringError("%s:%s", path.c_str(), toString(value.takeError()).c_str());
  if (std::optional<StringRef> key = repeatedKey((*buffer)->getBuffer()))
    return createStringError("%s: '%s' occurs twice in an object; leave one of them out", path.c_str(),
                             key->str().c_str());
  if (const json::Object *object = value->getAsObject())
    return readFamily(*object, path);
  return createStringError("%s: expected a JSON object", path.c_str());
}
