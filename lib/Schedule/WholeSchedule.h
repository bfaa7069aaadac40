//===- WholeSchedule.h - a schedule that is whole at all times --*- C++ -*-===//
//
// While a schedule is made under a memory limit it is known to its end: what has been
// decided, then what is left in an order that is right.  At first that is an order that needs
// little memory; steps are brought forward only where the whole schedule then keeps the limit,
// or needs no more than before.  So nothing is estimated, and whoever just takes the steps
// that are left keeps the limit.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SCHEDULE_WHOLESCHEDULE_H
#define BRAID_LIB_SCHEDULE_WHOLESCHEDULE_H

#include "lib/Schedule/Overlap.h"
#include <map>

namespace braid {

class WholeSchedule {
public:
  /// Begins with the schedule `first`.
  WholeSchedule(const OverlapProblem &problem, const OverlapSchedule &first, int64_t limit);

  /// Brings these steps, which are all left and in an order that is right, before all
  /// others that are left, if the schedule then keeps the limit or needs no more than before.
  bool bringForward(llvm::ArrayRef<OverlapStep> next);
  /// Whether `bringForward` would do it.
  bool fits(llvm::ArrayRef<OverlapStep> next);
  /// The step comes now.
  void decide(OverlapStep step);

  bool isDecided() const { return left.empty(); }
  OverlapStep next() const { return left.begin()->second; }

private:
  unsigned slotOf(OverlapStep step) const;
  void moveTo(OverlapStep step, unsigned slot);

  const OverlapProblem &problem;
  int64_t limit;
  LiveBytes live;
  /// The steps that are left, by their slots.  Those that were brought forward are below
  /// `rest`, and all that were decided below `decided`.
  std::map<unsigned, OverlapStep> left;
  unsigned decided = 0, rest;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_WHOLESCHEDULE_H
