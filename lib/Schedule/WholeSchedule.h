//===- WholeSchedule.h - a complete schedule at all times -------*- C++ -*-===//
//
// Under a memory limit, the scheduler always holds a complete schedule: the decided steps, then the remaining steps in
// a valid order. It starts with an order that needs little memory. Steps are brought forward only if the whole schedule
// then keeps the limit or needs no more memory than before. So memory is never estimated, and running the remaining
// steps in order always keeps the limit.
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

  /// Moves these remaining steps, given in a valid order, before all others, if the schedule then keeps the limit or
  /// needs no more memory than before. Returns whether it did.
  bool bringForward(llvm::ArrayRef<OverlapStep> next);
  /// Returns whether `bringForward` would move the steps.
  bool fits(llvm::ArrayRef<OverlapStep> next);
  /// Makes `step` the next decided step.
  void decide(OverlapStep step);

  OverlapStep next() const { return left.begin()->second; }

private:
  unsigned slotOf(OverlapStep step) const;
  void moveTo(OverlapStep step, unsigned slot);

  const OverlapProblem &problem;
  int64_t limit;
  LiveBytes live;
  /// Remaining steps by slot. Steps that were brought forward are below `rest`, and all decided steps below `decided`.
  std::map<unsigned, OverlapStep> left;
  unsigned decided = 0, rest;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_WHOLESCHEDULE_H
