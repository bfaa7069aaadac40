//===- OverlapPlan.h - what the schedule of a program builds on -*- C++ -*-===//
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

  /// Updates that wait for the same collective: the last of those that they depend
  /// on.  They run together.
  struct Group {
    unsigned last;
    double seconds = 0;
    /// Whether a collective sends what they make: it should not come late.
    bool feedsCollective = false;
    std::vector<unsigned> updates;
    /// What they need from the host, in the order of their first use.
    std::vector<unsigned> fetches;
  };

  static constexpr unsigned kNone = ~0u;

  const OverlapProblem &problem;
  /// Who needs an action, or comes after it.
  std::vector<llvm::SmallVector<unsigned, 4>> successors;
  /// What computes, but for the updates of groups, in order; the place in it of an
  /// action; and for each place the seconds of all before it.
  std::vector<unsigned> main;
  std::vector<unsigned> placeOf;
  std::vector<double> before;
  /// In the order of their collectives.
  std::vector<Group> groups;
  /// Whether some group needs something from the host.
  bool groupsFetch = false;
  /// Of each collective, the group that waits for it, or kNone.
  std::vector<unsigned> groupOf;
  /// Of each queue, in the order of units; without the fetches of groups.
  std::array<std::vector<unsigned>, OverlapProblem::kNumQueues> gathers;
  /// The place in `main` where an action is first needed: the end where it is not.
  std::vector<unsigned> useOf;
  /// The place in `main` where a unit of a queue is first used.
  std::array<std::vector<unsigned>, OverlapProblem::kNumQueues> useOfUnit;
  /// The collective before an ordered one that is ordered too, or kNone.
  std::vector<unsigned> previousOrdered;
  /// Whether a collective is waited for once it is surely over: its end gives memory
  /// back in the program's order, or another one sends what it gives.
  std::vector<bool> waitsEarly;
  /// The bytes that an action is the first to use.
  std::vector<int64_t> bytesTaken;

  /// The groups that stay behind the backward pass: those whose gradients come later,
  /// and before them as many as take so long until these are there.
  std::vector<bool> groupsToKeep(const std::vector<double> &secondsLeft) const;

private:
  void readOrder();
  void readGroups();
  void readUses();
  void readMemory();
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_OVERLAPPLAN_H
