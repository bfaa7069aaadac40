//===- ModelConfig.h - descriptions of models -------------------*- C++ -*-===//
//
// A model comes from a Hugging Face `config.json` or a preset.  A setting that the graph
// cannot represent is an error; it is never ignored.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MODEL_MODELCONFIG_H
#define BRAID_LIB_MODEL_MODELCONFIG_H

#include "lib/Model/DecoderConfig.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <variant>

namespace braid {

/// A multilayer perceptron for regression with mean squared error.
struct MlpConfig {
  int64_t features = 16, hidden = 64, layers = 2, labels = 1;
};

using ModelConfig = std::variant<DecoderConfig, MlpConfig>;

/// Reads a `config.json`, or the one in a checkpoint's folder. Errors name the file and the setting.
llvm::Expected<ModelConfig> readModelConfig(llvm::StringRef path);

/// Returns a built-in model; the error for other names lists the presets.
llvm::Expected<ModelConfig> presetModelConfig(llvm::StringRef name);

/// Returns "gpt2, gpt2-medium, …".
std::string presetNames();

} // namespace braid

#endif // BRAID_LIB_MODEL_MODELCONFIG_H
