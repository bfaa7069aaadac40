//===- ConfigText.cpp - the config.json that a graph carries --------------===//
//
// A file's text is kept, except for its whitespace. So settings that no graph has (ids
// of special tokens, labels) come out of an export again.
//
//===----------------------------------------------------------------------===//

#include "lib/Model/ConfigText.h"
#include "dialects/TG/ModelConfig.h"
#include "lib/Input/InputFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace braid;

/// Returns the config.json of a GPT-2 in Transformers' format. Byte-level text has no special tokens.
static std::string gpt2Text(int64_t vocab, int64_t positions, int64_t width, int64_t layers, int64_t heads) {
  std::string special = vocab == 50257 ? "50256" : "null", text;
  raw_string_ostream os(text);
  os << R"({"architectures":["GPT2LMHeadModel"],"model_type":"gpt2","activation_function":"gelu_new",)"
     << R"("vocab_size":)" << vocab << R"(,"n_positions":)" << positions << R"(,"n_embd":)" << width << R"(,"n_layer":)"
     << layers << R"(,"n_head":)" << heads << R"(,"layer_norm_epsilon":1e-05,)"
     << R"("initializer_range":0.02,"embd_pdrop":0.0,"resid_pdrop":0.0,"attn_pdrop":0.0,)"
     << R"("tie_word_embeddings":true,"bos_token_id":)" << special << R"(,"eos_token_id":)" << special << "}";
  return text;
}

std::string braid::presetConfigText(StringRef preset) {
  if (preset == "gpt2")
    return gpt2Text(50257, 1024, 768, 12, 12);
  if (preset == "gpt2-medium")
    return gpt2Text(50257, 1024, 1024, 24, 16);
  if (preset == "gpt-small")
    return gpt2Text(256, 256, 192, 4, 6);
  if (preset == "llama-tiny")
    return R"({"architectures":["LlamaForCausalLM"],"model_type":"llama","hidden_act":"silu","vocab_size":256,)"
           R"("max_position_embeddings":256,"hidden_size":128,"num_hidden_layers":4,"num_attention_heads":8,)"
           R"("num_key_value_heads":4,"head_dim":16,"intermediate_size":352,"rms_norm_eps":1e-05,)"
           R"("rope_theta":10000.0,"initializer_range":0.02,"tie_word_embeddings":false,)"
           R"("bos_token_id":null,"eos_token_id":null})";
  return "";
}

/// Removes the whitespace between the tokens of valid JSON.
static std::string stripWhitespace(StringRef json) {
  std::string text;
  bool isString = false;
  for (size_t i = 0; i < json.size(); ++i) {
    if (isString && json[i] == '\\') {
      text += json[i++];
    } else {
      isString ^= json[i] == '"';
      if (!isString && isSpace(json[i]))
        continue;
    }
    text += json[i];
  }
  return text;
}

std::string braid::configTextOf(StringRef path) {
  SmallString<128> file = path;
  if (sys::fs::is_directory(path))
    sys::path::append(file, "config.json");
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readInputFile(file);
  if (buffer)
    return stripWhitespace((*buffer)->getBuffer());
  consumeError(buffer.takeError());
  return "";
}

std::string braid::withConfig(std::string graph, StringRef config) {
  const StringRef begin = "module {\n";
  size_t at = StringRef(graph).find(begin);
  if (config.empty() || at == std::string::npos)
    return graph;
  std::string head;
  raw_string_ostream os(head);
  os << "module attributes {" << tg::kConfig << " = \"";
  printEscapedString(config, os);
  os << "\"} {\n";
  return graph.replace(at, begin.size(), head);
}
