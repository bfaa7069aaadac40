//===- OverlapPlan.h - precomputed facts for the schedule -------*- C++ -*-===//
//
// Facts about a problem that do not change while it is solved.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SCHEDULE_OVERLAPPLAN_H
#define BRAID_LIB_SCHEDULE_OVERLAPPLAN_H

#include "lib/Schedule/Overlap.h"
#include <array>

namespace braid {

struct OverlapPlan {
  explicit OverlapPlan(const OverlapProblem &problem);

  /// Updates that wait for the same collective, the last one they depend on. They run together.
  struct Group {
    unsigned last;
    double seconds = 0;
    /// Whether a collective sends results of the group, so that the group should run early.
    bool feedsCollective = false;
    std::vector<unsigned> updates;
    /// Fetches from the host that the updates need, in the order of their first use.
    std::vector<unsigned> fetches;
  };

  static constexpr unsigned kNone = ~0u;

  const OverlapProblem &problem;
  /// Actions that need an action or come after it.
  std::vector<llvm::SmallVector<unsigned, 4>> successors;
  /// `main` lists the computing actions in order, without the updates of groups. `placeOf` is the position of an action
  /// in it, and `before` the seconds of all actions before each position.
  std::vector<unsigned> main;
  std::vector<unsigned> placeOf;
  std::vector<double> before;
  /// Groups in the order of their collectives.
  std::vector<Group> groups;
  /// Whether any group needs a fetch from the host.
  bool hasFetches = false;
  /// For each collective, the group that waits for it, or kNone.
  std::vector<unsigned> groupOf;
  /// For each queue, its gathers in the order of units, without the fetches of groups.
  std::array<std::vector<unsigned>, OverlapProblem::kNumQueues> gathers;
  /// Position in `main` where an action is first needed; the end of `main` if never.
  std::vector<unsigned> useOf;
  /// Position in `main` where a unit of a queue is first used.
  std::array<std::vector<unsigned>, OverlapProblem::kNumQueues> useOfUnit;
  /// The previous ordered collective of an ordered one, or kNone.
  std::vector<unsigned> previousOrdered;
  /// Whether a collective is waited for as soon as it has surely ended, because its end frees memory in program order
  /// or another communication sends its result.
  std::vector<bool> waitsEarly;
  /// Bytes of the buffers that an action is the first to use.
  std::vector<int64_t> bytesTaken;

  /// Returns the groups that stay behind the backward pass: those whose gradients come later, and enough groups before
  /// them to fill the time until then.
  std::vector<bool> groupsToKeep(const std::vector<double> &secondsLeft) const;

private:
  void readOrder();
  void readGroups();
  void readUses();
  void readMemory();
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_OVERLAPPLAN_H
