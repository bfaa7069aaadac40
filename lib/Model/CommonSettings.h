//===- CommonSettings.h - settings of several families ----------*- C++ -*-===//
#ifndef BRAID_LIB_MODEL_COMMONSETTINGS_H
#define BRAID_LIB_MODEL_COMMONSETTINGS_H

#include "lib/Model/DecoderConfig.h"
#include "lib/Model/Settings.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace braid {

/// Reads sizes, under the names that all families but GPT-2 use.
void readSizes(Settings &settings, DecoderConfig &config);
/// Sets the head size to width / heads if no setting gives it.
void divideHeads(Settings &settings, DecoderConfig &config, llvm::StringRef heads = "num_attention_heads",
                 llvm::StringRef width = "hidden_size");
/// Reads the number of key and value heads, which several query heads share, and the head size.
void readHeads(Settings &settings, DecoderConfig &config);
void readAttentionBias(Settings &settings, DecoderConfig &config);
/// Reads the row of the table that lookups do not train; a negative number counts from the end of the table.
void readPadding(Settings &settings, DecoderConfig &config);
/// Reads the settings that Llama and the later families have in common.
void readModern(Settings &settings, DecoderConfig &config);
/// Window of Qwen's layers, 0 for none, and the number of the layer at which that changes.
struct QwenWindow {
  int64_t size = 4096, layer = 28;
};
QwenWindow readQwenWindow(Settings &settings);

/// Reads a `sliding_window` that another setting switches on. If it is off, sets 0 and accepts any value,
/// because Transformers then saves null, 0 or a size.
void readSwitchedWindow(Settings &settings, bool isUsed, int64_t &window);
/// Sets the windows of layers from `layer_types` or, without it, by `slides`.
void setWindows(Settings &settings, DecoderConfig &config, int64_t window, llvm::function_ref<bool(int64_t)> slides);

} // namespace braid

#endif // BRAID_LIB_MODEL_COMMONSETTINGS_H
