//===- Policy.h - recomputation policies ------------------------*- C++ -*-===//
#ifndef BRAID_PASSES_RECOMPUTE_POLICY_H
#define BRAID_PASSES_RECOMPUTE_POLICY_H

#include "runtime/cli/Value.h"
#include <cstdint>
#include <limits>

namespace braid {

/// The ops that backward may compute again instead of reading values that forward kept.
enum class RecomputePolicy {
  None,
  Attention, ///< The ops of attention.
  Selective, ///< Ops that take little time for their bytes: all but contractions with weights.
  Full,      ///< All ops of a unit; only the inputs of the unit are kept.
  Auto,      ///< Ops that cost less than their bytes, at a given price per second.
};
template <>
inline constexpr cli::Word cli::words<RecomputePolicy>[] = {
    {"none", "no values: forward keeps every value that backward reads"},
    {"attention", "values inside attention"},
    {"selective", "values that are cheap for their bytes: attention, activations, norms, dropout"},
    {"full", "every value of a unit; only the unit's inputs are kept"},
    {"auto", "the values that cost the least time while the arena stays within the budget"}};

/// Price of a second, in bytes, at which nothing is replayed: more than any memory.
inline constexpr double kNoReplays = 1e300;

/// Bytes that a second of replays must save under Auto: in the first `units` units in forward order, and in the other
/// units.
struct ReplayThreshold {
  double bytesPerSecond = 0;
  int64_t units = std::numeric_limits<int64_t>::max();
  double restBytesPerSecond = kNoReplays;
};

} // namespace braid

#endif // BRAID_PASSES_RECOMPUTE_POLICY_H
