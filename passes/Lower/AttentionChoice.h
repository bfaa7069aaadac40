//===- AttentionChoice.h - how attention is computed ------------*- C++ -*-===//
#ifndef BRAID_PASSES_LOWER_ATTENTIONCHOICE_H
#define BRAID_PASSES_LOWER_ATTENTIONCHOICE_H

#include "runtime/cli/Value.h"

namespace braid {

enum class AttentionWay {
  Auto,      ///< The library if it supports the operands, else tiles if they do, else the definition.
  Library,   ///< The target's library, or an error.
  Tiles,     ///< Tiles of generated code, or an error.
  Decompose, ///< The definition, decomposed into primitive ops.
};

constexpr auto wordsOf(AttentionWay) {
  return std::to_array<cli::Word>({{"auto", "by the target's library where that takes it, else by tiles"},
                                   {"library", "by the library, or an error"},
                                   {"tiles", "by generated code, which keeps scores on chip, or an error"},
                                   {"decompose", "by its definition"}});
}

/// An exec::SumOrder, or automatic choice.
enum class AttentionOrder { Auto, Fixed, Serial, Any };
constexpr auto wordsOf(AttentionOrder) {
  return std::to_array<cli::Word>(
      {{"auto", "fixed, unless that takes 2 % of the predicted time, a tenth of the arena, or the memory limit"},
       {"fixed", "the same bits in every run"},
       {"serial", "the same with less memory and slower: sm_90, cuDNN 9.25"},
       {"any", "faster, with bits that differ from run to run"}});
}

} // namespace braid

#endif // BRAID_PASSES_LOWER_ATTENTIONCHOICE_H
