//===- Overlap.h - communication beside computation, as a problem -*- C++ -*-===//
//
// A rank computes, and beside that has queues that communicate, each in the order of
// starts: one with other ranks, and one in each direction between a device and its
// host's memory.  A program on values is a list of actions in an order that is right; a
// schedule is another order of them in which collectives are split into a start and a
// wait.  What computes stays in its order but for updates.
//
//   reductions   start once their operands are there.  Their wait comes before the
//                first reader, or once they are surely over where that frees memory
//                or lets another collective start.
//   gathers      of stored parameters could start at any time.  They start as late
//                as they are still hidden, at most `prefetch` units before their own
//                is used; before a reduction that would make them late.
//   updates      run once their gradients are reduced, as one group a bucket; but as
//                many as hide the last reduction stay behind the backward pass.
//   fetches      from the host are gathers on a queue of their own, with units of their
//                own.  For updates of reduced gradients they begin while these are
//                reduced.
//   write-backs  to the host are like reductions; no fetch begins while more of them
//                are under way than units may be fetched ahead.
//
//   check    the problem makes sense
//   solve    a schedule
//   verify   it is right, whatever the algorithm was
//
// Nothing here knows of MLIR's operations.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SCHEDULE_OVERLAP_H
#define BRAID_LIB_SCHEDULE_OVERLAP_H

#include "lib/Schedule/LiveBytes.h"
#include "llvm/Support/Error.h"
#include <optional>

namespace braid {

struct OverlapProblem {
  /// The queues.
  static constexpr unsigned kRanks = 0, kFromHost = 1, kToHost = 2, kNumQueues = 3;

  enum class Kind {
    /// Computes, in the order of the program.
    Compute,
    /// Computes the new value of a persistent tensor.
    Update,
    /// Communicates what an action has made.
    Collective,
    /// Makes stored parameters whole, or fetches tensors from the host.
    Gather
  };

  struct Action {
    Kind kind = Kind::Compute;
    /// On its queue.
    double seconds = 0;
    /// Earlier actions: whose results it reads, and who reads what it overwrites.
    /// All are over before it begins.
    llvm::SmallVector<unsigned, 4> needs, after;
    /// Of what communicates: its queue.
    unsigned queue = kRanks;
    /// Of a gather: the number of its unit in the order of first uses, on its queue.
    unsigned unit = 0;
    /// Ordered collectives start in the order of the program.
    bool ordered = false;

    bool communicates() const { return kind == Kind::Collective || kind == Kind::Gather; }
  };

  using Buffer = LiveBuffer;

  std::vector<Action> actions;
  std::vector<Buffer> buffers;
  /// Units that may be gathered before their turn, and that may be fetched from the host.
  unsigned prefetch = 1, fetchAhead = 1;
  unsigned mostAhead(unsigned queue) const { return queue == kFromHost ? fetchAhead : prefetch; }
  bool earlyUpdates = true;
  /// Live bytes that no schedule may exceed where `smallSchedule` does not.
  std::optional<int64_t> limit;
  /// Bytes that are always live.
  int64_t baseBytes = 0;
  /// A collective counts as over when so many times its seconds, and `slack`
  /// seconds, have passed: computing takes from its bandwidth, and may be faster than
  /// predicted.  To start a gather early costs memory for a part of a unit, to start
  /// it late costs time: with twice its seconds, predictions that are off by a third
  /// expose nothing.
  double contention = 2, slack = 10e-6;
};

struct OverlapStep {
  enum Kind { Run, Start, Wait } kind;
  unsigned action;
};

/// Why a gather did not start before.
enum class HeldBy { Nothing, Prefetch, Memory };

struct OverlapSchedule {
  std::vector<OverlapStep> steps;
  /// One for each action.
  std::vector<HeldBy> heldBy;
};

/// The program's own order: each collective is waited for at once, and gathers come
/// right before their first reader.
OverlapSchedule plainSchedule(const OverlapProblem &problem);
/// The one that needs the least memory: of such schedules, with reductions and updates in
/// their places or as early as they can be, and of that without a limit or one that waits at once.
OverlapSchedule smallSchedule(const OverlapProblem &problem);
/// The most bytes that are live at one time.
int64_t peakBytes(const OverlapProblem &problem, const OverlapSchedule &schedule);

llvm::Error check(const OverlapProblem &problem);
/// A schedule of a problem that passed `check`; near-linear, deterministic.
OverlapSchedule solve(const OverlapProblem &problem);
llvm::Error verify(const OverlapProblem &problem, const OverlapSchedule &schedule);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_OVERLAP_H
