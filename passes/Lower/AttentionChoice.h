//===- AttentionChoice.h - how attention is computed ------------*- C++ -*-===//
#ifndef BRAID_PASSES_LOWER_ATTENTIONCHOICE_H
#define BRAID_PASSES_LOWER_ATTENTIONCHOICE_H

namespace braid {

enum class AttentionWay {
  Auto,      ///< By the library where it takes it, else by tiles where they do, else by its definition.
  Library,   ///< By the target's library, or an error.
  Tiles,     ///< By tiles of generated code, or an error.
  Decompose, ///< By its definition.
};

/// An exec::SumOrder, or the choice of one.
enum class AttentionOrder { Auto, Fixed, Serial, Any };

} // namespace braid

#endif // BRAID_PASSES_LOWER_ATTENTIONCHOICE_H
