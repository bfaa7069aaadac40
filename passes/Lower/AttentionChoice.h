//===- AttentionChoice.h - how attention is computed ------------*- C++ -*-===//
#ifndef BRAID_PASSES_LOWER_ATTENTIONCHOICE_H
#define BRAID_PASSES_LOWER_ATTENTIONCHOICE_H

namespace braid {

enum class AttentionWay {
  Auto,      ///< The library if it supports the operands, else tiles if they do, else the definition.
  Library,   ///< The target's library, or an error.
  Tiles,     ///< Tiles of generated code, or an error.
  Decompose, ///< The definition, decomposed into primitive ops.
};

/// An exec::SumOrder, or automatic choice.
enum class AttentionOrder { Auto, Fixed, Serial, Any };

} // namespace braid

#endif // BRAID_PASSES_LOWER_ATTENTIONCHOICE_H
