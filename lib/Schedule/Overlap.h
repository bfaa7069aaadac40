//===- Overlap.h - overlaps communication and computation -------*- C++ -*-===//
//
// A rank computes, and has queues that communicate in parallel, each in the order of starts: one with other ranks, and
// one for each direction between a device and its host's memory. A program on values is a list of actions in a valid
// order. A schedule is another order, in which collectives are split into a start and a wait. Computing actions keep
// their order, except for updates.
//
//   reductions   start as soon as their operands are computed. Their wait comes before the
//                first reader, or once they have surely ended if that frees memory or lets
//                another collective start.
//   gathers      of stored parameters could start at any time. They start as late as they are
//                still hidden, at most `prefetch` units before the use of their own unit, and
//                before a reduction that would make them late.
//   updates      run once their gradients are reduced, one group per bucket. As many as hide the
//                last reduction stay behind the backward pass.
//   fetches      from the host are gathers on a queue of their own, with their own units. For
//                updates of reduced gradients they start during the reduction.
//   write-backs  to the host are like reductions. No fetch starts while more write-backs are in
//                flight than units may be fetched ahead.
//
//   check    checks that the problem is valid
//   solve    finds a schedule
//   verify   checks a schedule, independently of the algorithm
//
// The algorithms do not depend on MLIR's operations.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SCHEDULE_OVERLAP_H
#define BRAID_LIB_SCHEDULE_OVERLAP_H

#include "lib/Schedule/LiveBytes.h"
#include "llvm/Support/Error.h"
#include <optional>

namespace braid {

struct OverlapProblem {
  /// Indices of the queues.
  static constexpr unsigned kRanks = 0, kFromHost = 1, kToHost = 2, kNumQueues = 3;

  enum class Kind {
    /// Computes, in program order.
    Compute,
    /// Computes the new value of a persistent tensor.
    Update,
    /// Communicates the results of an action.
    Collective,
    /// Gathers stored parameters, or fetches tensors from the host.
    Gather
  };

  struct Action {
    Kind kind = Kind::Compute;
    /// Seconds on the queue of the action, or of computing.
    double seconds = 0;
    /// Earlier actions that must end first: `dependences` are the producers of operands, `antiDependences` are the
    /// readers of memory that this action overwrites.
    llvm::SmallVector<unsigned, 4> dependences, antiDependences;
    /// Queue of a communication.
    unsigned queue = kRanks;
    /// Unit of a gather: its index on its queue in the order of first uses.
    unsigned unit = 0;
    /// Whether the collective starts in program order relative to the other ordered ones.
    bool ordered = false;

    bool communicates() const { return kind == Kind::Collective || kind == Kind::Gather; }
  };

  using Buffer = LiveBuffer;

  std::vector<Action> actions;
  std::vector<Buffer> buffers;
  /// Numbers of units that may be gathered, and fetched from the host, before their turn.
  unsigned prefetch = 1, fetchAhead = 1;
  unsigned maxAhead(unsigned queue) const { return queue == kFromHost ? fetchAhead : prefetch; }
  bool earlyUpdates = true;
  /// Limit of live bytes. A schedule exceeds it only if `leastMemorySchedule` does.
  std::optional<int64_t> limit;
  /// Bytes that are always live.
  int64_t baseBytes = 0;
  /// A collective counts as ended after `contention` times its seconds plus `slack` seconds, because computing takes
  /// some of its bandwidth and may be faster than predicted. Starting a gather early costs memory for a part of a unit,
  /// and starting it late costs time. With a factor of two, predictions that are off by a third expose no
  /// communication.
  double contention = 2, slack = 10e-6;
};

struct OverlapStep {
  enum Kind { Run, Start, Wait } kind;
  unsigned action;
};

/// The reason why a gather did not start earlier.
enum class HeldBy { Nothing, Prefetch, Memory };

struct OverlapSchedule {
  std::vector<OverlapStep> steps;
  /// One entry per action.
  std::vector<HeldBy> heldBy;
};

/// Returns the program's own order, which waits immediately for each collective and gathers right before the first
/// reader.
OverlapSchedule programOrderSchedule(const OverlapProblem &problem);
/// Returns the candidate with the least memory: program order; reductions and updates as early as possible; the
/// solution without a limit; and the solution that waits immediately.
OverlapSchedule leastMemorySchedule(const OverlapProblem &problem);
/// Returns the peak of live bytes.
int64_t peakBytes(const OverlapProblem &problem, const OverlapSchedule &schedule);

llvm::Error check(const OverlapProblem &problem);
/// Returns a schedule of a problem that passed `check`. Nearly linear, deterministic.
OverlapSchedule solve(const OverlapProblem &problem);
llvm::Error verify(const OverlapProblem &problem, const OverlapSchedule &schedule);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_OVERLAP_H
