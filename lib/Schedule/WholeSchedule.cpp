//===- WholeSchedule.cpp - a schedule that is whole at all times ----------===//

#include "lib/Schedule/WholeSchedule.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;

//===----------------------------------------------------------------------===//
// The program's own order
//===----------------------------------------------------------------------===//

OverlapSchedule braid::plainSchedule(const OverlapProblem &problem) {
  OverlapSchedule schedule;
  schedule.heldBy.assign(problem.actions.size(), HeldBy::Nothing);
  std::vector<bool> done(problem.actions.size());
  auto add = [&](unsigned number) {
    done[number] = true;
    if (!problem.actions[number].communicates()) {
      schedule.steps.push_back({OverlapStep::Run, number});
      return;
    }
    schedule.steps.push_back({OverlapStep::Start, number});
    schedule.steps.push_back({OverlapStep::Wait, number});
  };
  for (unsigned number = 0; number < problem.actions.size(); ++number) {
    const OverlapProblem::Action &action = problem.actions[number];
    if (action.kind == OverlapProblem::Kind::Gather)
      continue;
    for (const auto *list : {&action.needs, &action.after})
      for (unsigned other : *list)
        if (!done[other])
          add(other);
    add(number);
  }
  for (unsigned number = 0; number < problem.actions.size(); ++number)
    if (!done[number])
      add(number);
  return schedule;
}

/// Where the actions of a schedule stand, with `gap` free slots before them.
static std::vector<ActionSlots> slotsIn(const OverlapProblem &problem, const OverlapSchedule &schedule, unsigned gap) {
  std::vector<ActionSlots> slots(problem.actions.size());
  for (OverlapStep step : schedule.steps) {
    if (step.kind != OverlapStep::Wait)
      slots[step.action].begin = gap;
    if (step.kind != OverlapStep::Start)
      slots[step.action].end = gap;
    ++gap;
  }
  return slots;
}

int64_t braid::peakBytes(const OverlapProblem &problem, const OverlapSchedule &schedule) {
  return problem.baseBytes + peakBytes(problem.buffers, slotsIn(problem, schedule, 0));
}

//===----------------------------------------------------------------------===//
// The schedule
//===----------------------------------------------------------------------===//

/// What is decided takes a slot a step, and so does what is left in its own order; what is
/// brought forward may happen several times for one step, and is refused if there is no
/// slot for it.
static constexpr unsigned kSlotsPerStep = 4;

WholeSchedule::WholeSchedule(const OverlapProblem &problem, const OverlapSchedule &own, int64_t limit)
    : problem(problem), limit(limit - problem.baseBytes),
      live(problem.buffers, slotsIn(problem, own, (kSlotsPerStep - 1) * own.steps.size()),
           kSlotsPerStep * own.steps.size()),
      rest((kSlotsPerStep - 1) * own.steps.size()) {
  for (auto [index, step] : llvm::enumerate(own.steps))
    left.emplace_hint(left.end(), rest + index, step);
}

unsigned WholeSchedule::slotOf(OverlapStep step) const {
  ActionSlots slots = live.slotsOf(step.action);
  return step.kind == OverlapStep::Wait ? slots.end : slots.begin;
}

void WholeSchedule::moveTo(OverlapStep step, unsigned slot) {
  ActionSlots slots = live.slotsOf(step.action);
  if (step.kind != OverlapStep::Wait)
    slots.begin = slot;
  if (step.kind != OverlapStep::Start)
    slots.end = slot;
  live.move(step.action, slots);
}

bool WholeSchedule::bringForward(llvm::ArrayRef<OverlapStep> next) {
  auto isNext = [](const auto &entry, OverlapStep step) {
    return entry.second.kind == step.kind && entry.second.action == step.action;
  };
  auto [end, differs] = std::mismatch(left.begin(), left.end(), next.begin(), next.end(), isNext);
  if (differs == next.end())
    return true;
  unsigned front = std::min(rest, left.begin()->first);
  if (front < decided + next.size())
    return false;
  std::vector<unsigned> before;
  for (auto [index, step] : llvm::enumerate(next)) {
    before.push_back(slotOf(step));
    moveTo(step, front - next.size() + index);
  }
  bool fits = live.peak() <= limit;
  for (auto [index, step] : llvm::enumerate(next)) {
    if (!fits) {
      moveTo(step, before[index]);
      continue;
    }
    left.erase(before[index]);
    left[front - next.size() + index] = step;
  }
  return fits;
}

bool WholeSchedule::fits(llvm::ArrayRef<OverlapStep> next) {
  std::vector<unsigned> before;
  for (OverlapStep step : next)
    before.push_back(slotOf(step));
  if (!bringForward(next))
    return false;
  for (auto [slot, step] : llvm::zip(before, next)) {
    left.erase(slotOf(step));
    moveTo(step, slot);
    left[slot] = step;
  }
  return true;
}

void WholeSchedule::decide(OverlapStep step) {
  left.erase(slotOf(step));
  moveTo(step, decided++);
}
