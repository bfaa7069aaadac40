//===- Policy.h - which replays are asked for --------------------*- C++ -*-===//
#ifndef BRAID_PASSES_RECOMPUTE_POLICY_H
#define BRAID_PASSES_RECOMPUTE_POLICY_H

namespace braid {

/// What backward may compute again instead of reading what forward kept.
enum class RecomputePolicy {
  None,
  Attention, ///< What attention computes.
  Selective, ///< What takes little time for its bytes: all but contractions with weights.
  Full,      ///< All that a unit computes: it keeps what enters it.
  Auto,      ///< What is cheaper than its bytes at a price of a second.
};

} // namespace braid

#endif // BRAID_PASSES_RECOMPUTE_POLICY_H
