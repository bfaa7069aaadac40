//===- Presets.cpp - built-in models --------------------------------------===//

#include "lib/Model/Families.h"
#include "lib/Model/ModelConfig.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace braid;

namespace {
struct Preset {
  StringRef name;
  ModelConfig config;
};
} // namespace

static DecoderConfig gpt2(int64_t width, int64_t layers, int64_t heads) {
  DecoderConfig config;
  findFamily("gpt2")->describe(config);
  config.width = width, config.layers = layers, config.heads = config.kvHeads = heads;
  config.headSize = width / heads, config.inner = 4 * width;
  return config;
}

/// A byte-level model, for tests and tutorials.
static DecoderConfig gptSmall() {
  DecoderConfig config = gpt2(192, 4, 6);
  config.vocab = config.positions = 256;
  return config;
}

static DecoderConfig llamaTiny() {
  DecoderConfig config;
  findFamily("llama")->describe(config);
  config.vocab = config.positions = 256;
  config.width = 128, config.layers = 4, config.heads = 8, config.kvHeads = 4, config.inner = 352;
  config.headSize = config.rope.dims = 16;
  config.eps = 1e-5;
  return config;
}

/// Dropout is 0 in the presets, as is usual when training from scratch.
static const std::vector<Preset> &presets() {
  static const std::vector<Preset> table = {{"gpt2", gpt2(768, 12, 12)},
                                            {"gpt2-medium", gpt2(1024, 24, 16)},
                                            {"gpt-small", gptSmall()},
                                            {"llama-tiny", llamaTiny()},
                                            {"mlp", MlpConfig{}}};
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
