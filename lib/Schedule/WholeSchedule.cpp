//===- WholeSchedule.cpp - a complete schedule at all times ---------------===//

#include "lib/Schedule/WholeSchedule.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>

using namespace braid;

//===----------------------------------------------------------------------===//
// Schedules without overlap
//===----------------------------------------------------------------------===//

namespace {
/// Orders actions sequentially, each after the actions it needs.
class InOrder {
public:
  /// If `early`, reductions and updates run as soon as possible.
  InOrder(const OverlapProblem &problem, bool early);
  OverlapSchedule run();

private:
  void add(unsigned number);

  const OverlapProblem &problem;
  OverlapSchedule schedule;
  std::vector<bool> done;
  /// `followers` lists the early actions that come after each action. `left` counts the actions that an early one still
  /// waits for.
  std::vector<llvm::SmallVector<unsigned, 2>> followers;
  std::vector<unsigned> left;
};
} // namespace

InOrder::InOrder(const OverlapProblem &problem, bool early)
    : problem(problem), done(problem.actions.size()), followers(problem.actions.size()), left(problem.actions.size()) {
  schedule.heldBy.assign(problem.actions.size(), HeldBy::Nothing);
  std::optional<unsigned> lastOrdered;
  for (unsigned number = 0; number < problem.actions.size() && early; ++number) {
    const OverlapProblem::Action &action = problem.actions[number];
    if (action.kind != OverlapProblem::Kind::Update && action.kind != OverlapProblem::Kind::Collective)
      continue;
    auto follow = [&](unsigned other) {
      ++left[number];
      followers[other].push_back(number);
    };
    llvm::for_each(action.dependences, follow);
    llvm::for_each(action.antiDependences, follow);
    if (!action.ordered)
      continue;
    if (lastOrdered)
      follow(*lastOrdered);
    lastOrdered = number;
  }
}

void InOrder::add(unsigned number) {
  if (done[number])
    return;
  for (const auto *list : {&problem.actions[number].dependences, &problem.actions[number].antiDependences})
    for (unsigned other : *list)
      add(other);
  // An early action that followed another one may have needed this one.
  if (done[number])
    return;
  done[number] = true;
  if (problem.actions[number].communicates()) {
    schedule.steps.push_back({OverlapStep::Start, number});
    schedule.steps.push_back({OverlapStep::Wait, number});
  } else {
    schedule.steps.push_back({OverlapStep::Run, number});
  }
  for (unsigned follower : followers[number])
    if (--left[follower] == 0)
      add(follower);
}

OverlapSchedule InOrder::run() {
  for (unsigned number = 0; number < problem.actions.size(); ++number)
    if (problem.actions[number].kind != OverlapProblem::Kind::Gather)
      add(number);
  for (unsigned number = 0; number < problem.actions.size(); ++number)
    add(number);
  return std::move(schedule);
}

OverlapSchedule braid::programOrderSchedule(const OverlapProblem &problem) {
  return InOrder(problem, /*early=*/false).run();
}

OverlapSchedule braid::leastMemorySchedule(const OverlapProblem &problem) {
  OverlapProblem unlimited = problem;
  unlimited.limit.reset();
  // If every collective counts as ended at once, each is waited for early and no gather starts ahead.
  OverlapProblem instant = unlimited;
  instant.contention = 0;
  instant.slack = -std::numeric_limits<double>::infinity();
  OverlapSchedule candidates[] = {programOrderSchedule(problem), InOrder(problem, problem.earlyUpdates).run(),
                                  solve(unlimited), solve(instant)};
  return *std::min_element(std::begin(candidates), std::end(candidates),
                           [&](const OverlapSchedule &a, const OverlapSchedule &b) {
                             return peakBytes(problem, a) < peakBytes(problem, b);
                           });
}

/// Returns the slots of the actions of a schedule, after `gap` free slots.
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

/// A decided step takes one slot, and so does each remaining step of the first order. A step may be brought forward
/// several times, and is refused if no slot is left.
static constexpr unsigned kSlotsPerStep = 4;

WholeSchedule::WholeSchedule(const OverlapProblem &problem, const OverlapSchedule &first, int64_t limit)
    : problem(problem), limit(limit - problem.baseBytes),
      live(problem.buffers, slotsIn(problem, first, (kSlotsPerStep - 1) * first.steps.size()),
           kSlotsPerStep * first.steps.size()),
      rest((kSlotsPerStep - 1) * first.steps.size()) {
  for (auto [index, step] : llvm::enumerate(first.steps))
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
  int64_t allowed = std::max(limit, live.peak());
  unsigned front = std::min(rest, left.begin()->first);
  if (front < decided + next.size())
    return false;
  std::vector<unsigned> before;
  for (auto [index, step] : llvm::enumerate(next)) {
    before.push_back(slotOf(step));
    moveTo(step, front - next.size() + index);
  }
  bool fits = live.peak() <= allowed;
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
