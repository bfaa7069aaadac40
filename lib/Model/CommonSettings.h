//===- CommonSettings.h - settings that several families have ---*- C++ -*-===//
#ifndef BRAID_LIB_MODEL_COMMONSETTINGS_H
#define BRAID_LIB_MODEL_COMMONSETTINGS_H

#include "lib/Model/DecoderConfig.h"
#include "lib/Model/Settings.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace braid {

/// Sizes, under the names that all families but GPT-2 use.
void readSizes(Settings &settings, DecoderConfig &config);
/// A head's size where no setting says it.
void divideHeads(Settings &settings, DecoderConfig &config, llvm::StringRef heads = "num_attention_heads",
                 llvm::StringRef width = "hidden_size");
/// Heads of keys and values that several heads of queries share, and a head's size.
void readHeads(Settings &settings, DecoderConfig &config);
void readAttentionBias(Settings &settings, DecoderConfig &config);
/// The row of the table that lookups do not train; from the end of the table where it is negative.
void readPadding(Settings &settings, DecoderConfig &config);
/// What Llama and the families that came after it have in common.
void readModern(Settings &settings, DecoderConfig &config);
/// The window that Qwen's layers may have, 0 for none, and the number of the layer where that changes.
struct QwenWindow {
  int64_t size = 4096, layer = 28;
};
QwenWindow readQwenWindow(Settings &settings);

/// A `sliding_window` that another setting switches on; 0 and unread where it is off, as Transformers then saves
/// null, 0 or a size.
void readSwitchedWindow(Settings &settings, bool isUsed, int64_t &window);
/// The windows of layers from `layer_types` or, without it, where `slides` says.
void setWindows(Settings &settings, DecoderConfig &config, int64_t window, llvm::function_ref<bool(int64_t)> slides);

} // namespace braid

#endif // BRAID_LIB_MODEL_COMMONSETTINGS_H
