//===- ModelConfig.cpp - presets and config.json --------------------------===//

#include "lib/Model/ModelConfig.h"
#include "lib/Input/ParserLimits.h"
#include "lib/Model/JsonKeys.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>

using namespace llvm;
using namespace braid;

//===----------------------------------------------------------------------===//
// Presets
//===----------------------------------------------------------------------===//

namespace {
struct Preset {
  StringRef name;
  ModelConfig config;
};
} // namespace

/// Dropout is 0 in the presets, as is usual when training from scratch.
static const std::vector<Preset> &presets() {
  static const std::vector<Preset> table = {
      {"gpt2", Gpt2Config{}},
      {"gpt2-medium", Gpt2Config{.width = 1024, .layers = 24, .heads = 16, .inner = 4096}},
      {"gpt-small", Gpt2Config{.vocab = 256, .positions = 256, .width = 192, .layers = 4, .heads = 6, .inner = 768}},
      {"llama-tiny", LlamaConfig{.vocab = 256,
                                 .positions = 256,
                                 .width = 128,
                                 .layers = 4,
                                 .heads = 8,
                                 .kvHeads = 4,
                                 .headSize = 16,
                                 .inner = 352,
                                 .eps = 1e-5,
                                 .tied = false}},
      {"mlp", MlpConfig{}},
  };
  return table;
}

std::string braid::presetNames() {
  SmallVector<StringRef> names;
  for (const Preset &preset : presets())
    names.push_back(preset.name);
  return llvm::join(names, ", ");
}

Expected<ModelConfig> braid::presetModelConfig(StringRef name) {
  for (const Preset &preset : presets())
    if (preset.name == name)
      return preset.config;
  return createStringError("unknown preset '%s' (presets: %s)", name.str().c_str(), presetNames().c_str());
}

//===----------------------------------------------------------------------===//
// config.json
//===----------------------------------------------------------------------===//

namespace {
/// Reads settings of one file and remembers the first thing that is wrong.
class Settings {
public:
  Settings(const json::Object &object, StringRef path) : object(object), path(path) {}

  void read(StringRef key, int64_t &value, int64_t most = 1 << 24) {
    const json::Value *found = find(key);
    if (!found)
      return;
    std::optional<int64_t> number = found->getAsInteger();
    if (!number || *number < 1 || *number > most)
      return fail("'" + key + "' must be an integer from 1 to " + Twine(most) + ", found " + text(*found));
    value = *number;
  }

  void read(StringRef key, double &value, double least, double below) {
    const json::Value *found = find(key);
    if (!found)
      return;
    std::optional<double> number = found->getAsNumber();
    if (!number || !(*number >= least && *number < below))
      return fail("'" + key + "' must be a number in [" + Twine(formatNumber(least)) + ", " + formatNumber(below) +
                  "), found " + text(*found));
    value = *number;
  }

  void read(StringRef key, bool &value) {
    const json::Value *found = find(key);
    if (!found)
      return;
    if (!found->getAsBoolean())
      return fail("'" + key + "' must be true or false, found " + text(*found));
    value = *found->getAsBoolean();
  }

  /// The op that an activation function's Hugging Face name stands for.
  void readActivation(StringRef key, std::string &op) {
    const json::Value *found = find(key);
    if (!found)
      return;
    StringRef name = found->getAsString().value_or("");
    if (name == "gelu_new" || name == "gelu_pytorch_tanh" || name == "gelu_fast")
      op = "gelu tanh";
    else if (name == "gelu")
      op = "gelu erf";
    else if (name == "silu" || name == "swish")
      op = "silu";
    else if (name == "relu")
      op = "relu";
    else
      fail("'" + key + "' is " + text(*found) + "; expected gelu_new, gelu_pytorch_tanh, gelu, silu or relu");
  }

  /// Refuses a setting unless it is absent, null or equal to `expected`.
  void refuseUnless(StringRef key, json::Value expected) {
    const json::Value *found = find(key);
    if (found && *found != expected)
      fail("'" + key + "': " + text(*found) + " is not supported, only " + text(expected));
  }

  const json::Value *find(StringRef key) const {
    const json::Value *found = object.get(key);
    return found && found->kind() != json::Value::Null ? found : nullptr;
  }

  void check(bool condition, const Twine &message) {
    if (!condition)
      fail(message);
  }

  void fail(const Twine &message) {
    if (error.empty())
      error = (path + ": " + message).str();
  }

  Error take() { return error.empty() ? Error::success() : createStringError(error); }

private:
  static std::string text(const json::Value &value) {
    std::string out;
    raw_string_ostream(out) << value;
    return out;
  }
  static std::string formatNumber(double number) {
    std::string out;
    raw_string_ostream(out) << json::Value(number);
    return out;
  }

  const json::Object &object;
  StringRef path;
  std::string error;
};
} // namespace

static Expected<ModelConfig> readGpt2(Settings &settings) {
  Gpt2Config config;
  settings.read("vocab_size", config.vocab);
  settings.read("n_positions", config.positions);
  settings.read("n_embd", config.width);
  settings.read("n_layer", config.layers, 1 << 12);
  settings.read("n_head", config.heads, 1 << 12);
  config.inner = 4 * config.width;
  settings.read("n_inner", config.inner);
  settings.readActivation("activation_function", config.activation);
  settings.read("layer_norm_epsilon", config.eps, 0.0, 1.0);
  settings.read("initializer_range", config.initStd, 0.0, 1e3);
  settings.read("embd_pdrop", config.embedDropout, 0.0, 1.0);
  settings.read("resid_pdrop", config.residualDropout, 0.0, 1.0);
  settings.read("attn_pdrop", config.attentionDropout, 0.0, 1.0);
  settings.read("scale_attn_weights", config.scaleAttention);
  settings.read("scale_attn_by_inverse_layer_idx", config.scaleByLayer);
  settings.read("tie_word_embeddings", config.tied);
  settings.refuseUnless("add_cross_attention", false);
  settings.check(config.width % config.heads == 0,
                 "'n_head' " + Twine(config.heads) + " does not divide 'n_embd' " + Twine(config.width));
  if (Error error = settings.take())
    return Expected<ModelConfig>(std::move(error));
  return config;
}

/// `rope_scaling` and the newer `rope_parameters`: only plain rotation.
static void readRope(Settings &settings, StringRef path, LlamaConfig &config) {
  settings.read("rope_theta", config.theta, 1e-3, 1e12);
  for (StringRef key : {"rope_scaling", "rope_parameters"}) {
    const json::Value *found = settings.find(key);
    const json::Object *object = found ? found->getAsObject() : nullptr;
    if (!object)
      continue;
    Settings inner(*object, path);
    inner.read("rope_theta", config.theta, 1e-3, 1e12);
    inner.refuseUnless("rope_type", "default");
    inner.refuseUnless("type", "default");
    if (Error error = inner.take())
      settings.fail("'" + key + "': only rope_type \"default\" is supported (" + toString(std::move(error)) + ")");
  }
}

static Expected<ModelConfig> readLlama(Settings &settings, StringRef path) {
  LlamaConfig config;
  settings.read("vocab_size", config.vocab);
  settings.read("max_position_embeddings", config.positions);
  settings.read("hidden_size", config.width);
  settings.read("num_hidden_layers", config.layers, 1 << 12);
  settings.read("num_attention_heads", config.heads, 1 << 12);
  config.kvHeads = config.heads;
  settings.read("num_key_value_heads", config.kvHeads, 1 << 12);
  config.headSize = std::max<int64_t>(1, config.width / config.heads);
  settings.read("head_dim", config.headSize);
  settings.read("intermediate_size", config.inner);
  settings.readActivation("hidden_act", config.activation);
  settings.read("rms_norm_eps", config.eps, 0.0, 1.0);
  settings.read("initializer_range", config.initStd, 0.0, 1e3);
  settings.read("attention_dropout", config.attentionDropout, 0.0, 1.0);
  settings.read("attention_bias", config.attentionBias);
  settings.read("mlp_bias", config.mlpBias);
  settings.read("tie_word_embeddings", config.tied);
  readRope(settings, path, config);
  settings.check(config.heads % config.kvHeads == 0, "'num_key_value_heads' " + Twine(config.kvHeads) +
                                                         " does not divide 'num_attention_heads' " +
                                                         Twine(config.heads));
  settings.check(config.headSize % 2 == 0, "rotary positions need an even head size, found " + Twine(config.headSize));
  if (Error error = settings.take())
    return Expected<ModelConfig>(std::move(error));
  return config;
}

Expected<ModelConfig> braid::readModelConfig(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return createStringError("%s: %s", path.str().c_str(), buffer.getError().message().c_str());
  Expected<json::Value> value = parseJson((*buffer)->getBuffer());
  if (!value)
    return createStringError("%s:%s", path.str().c_str(), toString(value.takeError()).c_str());
  if (std::optional<StringRef> key = repeatedKey((*buffer)->getBuffer()))
    return createStringError("%s: '%s' stands twice in an object; leave one of them out", path.str().c_str(),
                             key->str().c_str());
  const json::Object *object = value->getAsObject();
  if (!object)
    return createStringError("%s: expected a JSON object", path.str().c_str());
  StringRef type = object->getString("model_type").value_or("");
  Settings settings(*object, path);
  if (type == "gpt2")
    return readGpt2(settings);
  if (type == "llama")
    return readLlama(settings, path);
  return createStringError("%s: unknown 'model_type' '%s'; expected gpt2 or llama", path.str().c_str(),
                           type.str().c_str());
}
