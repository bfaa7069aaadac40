//===- Policy.h - which replays are asked for --------------------*- C++ -*-===//
#ifndef BRAID_PASSES_RECOMPUTE_POLICY_H
#define BRAID_PASSES_RECOMPUTE_POLICY_H

#include <cstdint>
#include <limits>

namespace braid {

/// What backward may compute again instead of reading what forward kept.
enum class RecomputePolicy {
  None,
  Attention, ///< What attention computes.
  Selective, ///< What takes little time for its bytes: all but contractions with weights.
  Full,      ///< All that a unit computes: it keeps what enters it.
  Auto,      ///< What is cheaper than its bytes at a price of a second.
};

/// Where nothing is replayed: a second is worth more bytes than there are.
inline constexpr double kNoReplays = 1e300;

/// What a second of replaying is worth to Auto, in bytes: in the first units, in the order of
/// forward, and in the others.
struct ReplayWorth {
  double bytesPerSecond = 0;
  int64_t units = std::numeric_limits<int64_t>::max();
  double restBytesPerSecond = kNoReplays;
};

} // namespace braid

#endif // BRAID_PASSES_RECOMPUTE_POLICY_H
