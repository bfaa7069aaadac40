//===- OverlapPlan.h - what the schedule of a program builds on -*- C++ -*-===//
//
// Facts about a problem that do not change while it is solved.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SCHEDULE_OVERLAPPLAN_H
#define BRAID_LIB_SCHEDULE_OVERLAPPLAN_H

#include "lib/Schedule/Overlap.h"

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
  /// Of each collective, the group that waits for it, or kNone.
  std::vector<unsigned> groupOf;
  /// In the order of units.
  std::vector<unsigned> gathers;
  /// The place in `main` where an action is first needed: the end where it is not.
  std::vector<unsigned> useOf;
  /// The place in `main` where a unit is first used.
  std::vector<unsigned> useOfUnit;
  /// The collective before an ordered one that is ordered too, or kNone.
  std::vector<unsigned> previousOrdered;
  /// Whether a collective is waited for once it is surely over: its end gives memory
  /// back in the program's order, or another one sends what it gives.
  std::vector<bool> waitsEarly;
  /// In the program's order: the bytes that are live before each place in `main`.
  std::vector<int64_t> liveAt;
  /// In the program's order: the most bytes that are live from the place `begin` up to
  /// `end`, which comes later.
  int64_t mostLive(unsigned begin, unsigned end) const;

private:
  void readOrder();
  void readGroups();
  void readUses();
  void readMemory();

  /// Entry [k][i] is the most that is live from place i up to i + 2^k.
  std::vector<std::vector<int64_t>> mostLiveFrom;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_OVERLAPPLAN_H
