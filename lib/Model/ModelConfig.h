//===- ModelConfig.h - what a model is, before it is a graph ----*- C++ -*-===//
//
// The numbers of a model, from a Hugging Face `config.json` or a preset.  A
// setting that the graph could not honour is refused, never ignored.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MODEL_MODELCONFIG_H
#define BRAID_LIB_MODEL_MODELCONFIG_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <variant>

namespace braid {

/// GPT-2 (Radford et al. 2019), with the names of its `config.json`.
struct Gpt2Config {
  int64_t vocab = 50257, positions = 1024, width = 768, layers = 12, heads = 12, inner = 3072;
  std::string activation = "gelu tanh";
  double eps = 1e-5, initStd = 0.02;
  double embedDropout = 0, residualDropout = 0, attentionDropout = 0;
  bool scaleAttention = true, scaleByLayer = false, tied = true;
};

/// Llama (Touvron et al. 2023): RMS norm, rotary positions, SwiGLU, grouped
/// query heads.
struct LlamaConfig {
  int64_t vocab = 32000, positions = 2048, width = 4096, layers = 32, heads = 32, kvHeads = 32, headSize = 128,
          inner = 11008;
  std::string activation = "silu";
  double eps = 1e-6, initStd = 0.02, theta = 1e4, attentionDropout = 0;
  bool attentionBias = false, mlpBias = false, tied = false;
};

/// A multilayer perceptron for regression with mean squared error.
struct MlpConfig {
  int64_t features = 16, hidden = 64, layers = 2, labels = 1;
};

using ModelConfig = std::variant<Gpt2Config, LlamaConfig, MlpConfig>;

/// Reads a `config.json`; errors name the file and the setting.
llvm::Expected<ModelConfig> readModelConfig(llvm::StringRef path);

/// A built-in model; the error lists the names.
llvm::Expected<ModelConfig> presetModelConfig(llvm::StringRef name);

/// "gpt2, gpt2-medium, …"
std::string presetNames();

} // namespace braid

#endif // BRAID_LIB_MODEL_MODELCONFIG_H
