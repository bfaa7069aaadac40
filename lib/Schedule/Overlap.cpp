//===- Overlap.cpp - one walk through the program -------------------------===//
//
// The scheduler follows the computation in its order and keeps the clocks of the queues. Between two actions it decides
// what else starts:
//
//   wait      for collectives that have surely ended, if that frees memory or lets another one
//             start
//   update    a group whose gradients are surely reduced
//   start     reductions that are ready, in program order. Before them comes a gather that would
//             be late after the next action or after the reduction, and fetches from the host
//             for updates whose gradients are being reduced.
//
// The link's queue follows the order of starts, so each start also depends on what it would delay. Each decision
// examines few actions, so the walk is nearly linear.
//
// Under a memory limit, each decision is checked on the whole schedule (WholeSchedule). An action that can wait and
// does not fit stays in place. Computing follows the program's own order until it fits.
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/OverlapScheduler.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;
using Action = OverlapProblem::Action;
using Kind = OverlapProblem::Kind;

/// Limits of the actions that are computed out of turn for an update or a collective: their number, and their bytes.
static constexpr unsigned kMaxPrecomputed = 16;
static constexpr int64_t kMaxPrecomputedBytes = 1 << 20;

Scheduler::Scheduler(const OverlapPlan &plan, bool early, std::vector<bool> late, std::optional<WholeSchedule> whole)
    : plan(plan), problem(plan.problem), early(early), late(std::move(late)), whole(std::move(whole)), queues(problem),
      states(problem.actions.size(), State::Waiting), hasRun(plan.groups.size()) {
  schedule.heldBy.assign(problem.actions.size(), HeldBy::Nothing);
  for (unsigned number = 0; number < problem.actions.size(); ++number) {
    numPendingNeeds.push_back(action(number).dependences.size() + action(number).antiDependences.size());
    if (action(number).kind == Kind::Collective && numPendingNeeds.back() == 0)
      ready.insert(number);
  }
}

//===----------------------------------------------------------------------===//
// One action
//===----------------------------------------------------------------------===//

void Scheduler::setEnded(unsigned number) {
  states[number] = State::Ended;
  for (unsigned successor : plan.successors[number])
    if (--numPendingNeeds[successor] == 0 && action(successor).kind == Kind::Collective &&
        states[successor] == State::Waiting)
      ready.insert(successor);
}

void Scheduler::addStep(OverlapStep step) {
  if (whole)
    whole->decide(step);
  schedule.steps.push_back(step);
}

void Scheduler::finish(unsigned number) {
  if (hasEnded(number))
    return;
  if (action(number).communicates())
    wait(number);
  else
    compute(number);
}

void Scheduler::compute(unsigned number) {
  for (const auto *list : {&action(number).dependences, &action(number).antiDependences})
    for (unsigned other : *list) {
      // Runs updates instead of stalling.
      if (states[other] == State::Begun && plan.placeOf[number] != OverlapPlan::kNone)
        while (queues.end(other) > queues.now && runGroup(/*alsoLate=*/true))
          startCollectives();
      finish(other);
    }
  // An update that ran in between may have computed it already.
  if (hasEnded(number))
    return;
  queues.run(number);
  addStep({OverlapStep::Run, number});
  setEnded(number);
}

void Scheduler::start(unsigned number) {
  if (unsigned previous = plan.previousOrdered[number];
      previous != OverlapPlan::kNone && states[previous] == State::Waiting)
    start(previous);
  for (const auto *list : {&action(number).dependences, &action(number).antiDependences})
    for (unsigned other : *list)
      finish(other);
  while (isFetch(number) && writeBacks.size() > problem.fetchAhead)
    finish(writeBacks.front());
  if (states[number] != State::Waiting)
    return;
  queues.start(number);
  addStep({OverlapStep::Start, number});
  states[number] = State::Begun;
  ready.erase(number);
  inFlight.push_back(number);
  if (action(number).queue == problem.kToHost)
    writeBacks.push_back(number);
  if (plan.waitsEarly[number])
    settling.push_back(number);
  if (plan.groupOf[number] != OverlapPlan::kNone)
    armed.push_back(plan.groupOf[number]);
}

void Scheduler::wait(unsigned number) {
  if (states[number] == State::Waiting)
    start(number);
  if (hasEnded(number))
    return;
  queues.wait(number);
  addStep({OverlapStep::Wait, number});
  llvm::erase(writeBacks, number);
  setEnded(number);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Waits for collectives that have surely ended and that hold memory or block another collective.
void Scheduler::settle() {
  while (!settling.empty() && mustHaveEnded(settling.front())) {
    finish(settling.front());
    settling.pop_front();
  }
}

/// Adds the steps that `finish` would run.
void Scheduler::addToEnd(unsigned number, RequiredSteps &needed) const {
  if (hasEnded(number) || !needed.ended.insert(number).second)
    return;
  if (action(number).communicates()) {
    addToStart(number, needed);
    needed.steps.push_back({OverlapStep::Wait, number});
    return;
  }
  for (const auto *list : {&action(number).dependences, &action(number).antiDependences})
    for (unsigned other : *list)
      addToEnd(other, needed);
  needed.steps.push_back({OverlapStep::Run, number});
}

/// Adds the steps that `start` would run.
void Scheduler::addToStart(unsigned number, RequiredSteps &needed) const {
  if (states[number] != State::Waiting || !needed.begun.insert(number).second)
    return;
  if (unsigned previous = plan.previousOrdered[number]; previous != OverlapPlan::kNone)
    addToStart(previous, needed);
  for (const auto *list : {&action(number).dependences, &action(number).antiDependences})
    for (unsigned other : *list)
      addToEnd(other, needed);
  if (isFetch(number) && writeBacks.size() > problem.fetchAhead)
    for (unsigned index = 0; index < writeBacks.size() - problem.fetchAhead; ++index)
      addToEnd(writeBacks[index], needed);
  needed.steps.push_back({OverlapStep::Start, number});
}

/// Returns whether a collective may start now.
bool Scheduler::fitsToStart(unsigned number) {
  if (!whole)
    return true;
  RequiredSteps needed;
  addToStart(number, needed);
  return whole->fits(needed.steps);
}

/// Returns whether actions may run now; if so, they become the next steps.
bool Scheduler::bringForward(llvm::ArrayRef<unsigned> actions) {
  if (!whole)
    return true;
  RequiredSteps needed;
  for (unsigned number : actions)
    addToEnd(number, needed);
  return whole->bringForward(needed.steps);
}

/// Follows the whole schedule until the action `number` fits: the end of one that computes, or the start of one that
/// communicates.
void Scheduler::runUntilFits(unsigned number) {
  while (whole) {
    RequiredSteps needed;
    action(number).communicates() ? addToStart(number, needed) : addToEnd(number, needed);
    if (needed.steps.empty() || whole->bringForward(needed.steps))
      return;
    OverlapStep step = whole->next();
    step.kind == OverlapStep::Start ? start(step.action) : finish(step.action);
  }
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

/// Returns whether an action has ended, or can end without a stall and with little computing out of turn.
bool Scheduler::canPrecompute(unsigned number, unsigned &budget) const {
  if (mustHaveEnded(number))
    return true;
  if (action(number).communicates() || budget == 0)
    return false;
  --budget;
  auto canRun = [&](unsigned other) { return canPrecompute(other, budget); };
  return llvm::all_of(action(number).dependences, canRun) && llvm::all_of(action(number).antiDependences, canRun);
}

/// Returns whether a group can run. Of its fetches from the host, only the first must have ended: the others follow
/// while updates run.
bool Scheduler::isReady(const OverlapPlan::Group &group) const {
  if (!group.fetches.empty() && !mustHaveEnded(group.fetches.front()))
    return false;
  return llvm::all_of(group.updates, [&](unsigned update) {
    unsigned budget = kMaxPrecomputed;
    auto isThere = [&](unsigned dependence) { return isFetch(dependence) || canPrecompute(dependence, budget); };
    return hasEnded(update) ||
           (llvm::all_of(action(update).dependences, isThere) &&
            llvm::all_of(action(update).antiDependences, [&](unsigned other) { return mustHaveEnded(other); }));
  });
}

/// Runs the first ready group. Returns whether there was one.
bool Scheduler::runGroup(bool alsoLate) {
  if (!early)
    return false;
  for (unsigned number : armed) {
    const OverlapPlan::Group &group = plan.groups[number];
    // Later collectives end later.
    if (!mustHaveEnded(group.last))
      return false;
    if (hasRun[number] || (late[number] && !alsoLate) || !isReady(group) || !bringForward(group.updates))
      continue;
    hasRun[number] = true;
    for (unsigned update : group.updates) {
      serveHost();
      finish(update);
    }
    llvm::erase(armed, number);
    return true;
  }
  return false;
}

/// Computes the cheap producers of a collective first, if they depend only on values that exist from the start.
void Scheduler::startWithCheapProducers() {
  for (unsigned number = 0; number < problem.actions.size(); ++number) {
    if (action(number).kind != Kind::Collective || action(number).ordered || numPendingNeeds[number] == 0)
      continue;
    std::set<unsigned> producers(action(number).dependences.begin(), action(number).dependences.end());
    double seconds = 0;
    int64_t bytes = 0;
    bool isCheap = action(number).antiDependences.empty();
    for (auto it = producers.rbegin(); it != producers.rend() && isCheap; ++it) {
      // The producers of a producer have lower numbers, so this loop still reaches them.
      producers.insert(action(*it).dependences.begin(), action(*it).dependences.end());
      seconds += action(*it).seconds;
      bytes += plan.bytesTaken[*it];
      isCheap = plan.placeOf[*it] != OverlapPlan::kNone && action(*it).antiDependences.empty() &&
                producers.size() <= kMaxPrecomputed && seconds <= action(number).seconds &&
                bytes <= kMaxPrecomputedBytes;
    }
    if (!isCheap || !bringForward(llvm::to_vector(producers)))
      continue;
    for (unsigned producer : producers)
      finish(producer);
    startCollectives();
  }
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

/// Runs the remaining updates in the order in which their gradients are reduced.
void Scheduler::runRemainingUpdates() {
  for (unsigned index = 0; index < armed.size(); ++index) {
    hasRun[armed[index]] = true;
    for (unsigned update : plan.groups[armed[index]].updates) {
      serveHost();
      runUntilFits(update);
      finish(update);
    }
    startCollectives();
  }
  for (unsigned number = 0; number < problem.actions.size(); ++number) {
    runUntilFits(number);
    if (!action(number).communicates())
      finish(number);
    else if (states[number] == State::Waiting)
      start(number);
  }
  for (unsigned number : inFlight)
    finish(number);
}

OverlapSchedule Scheduler::run() {
  startWithCheapProducers();
  for (next = 0; next < plan.main.size(); ++next) {
    if (hasEnded(plan.main[next]))
      continue;
    settle();
    startCollectives();
    while (runGroup(/*alsoLate=*/false))
      startCollectives();
    runUntilFits(plan.main[next]);
    finish(plan.main[next]);
  }
  startCollectives();
  // Collectives that have not begun wait for updates; their groups get 0.
  for (const OverlapPlan::Group &group : plan.groups)
    left.push_back(std::max(0.0, queues.end(group.last) - queues.now));
  runRemainingUpdates();
  return std::move(schedule);
}

OverlapSchedule braid::solve(const OverlapProblem &problem) {
  OverlapPlan plan(problem);
  std::optional<WholeSchedule> whole;
  if (problem.limit)
    whole.emplace(problem, leastMemorySchedule(problem), *problem.limit);
  Scheduler first(plan, /*early=*/false, std::vector<bool>(plan.groups.size()), whole);
  OverlapSchedule schedule = first.run();
  if (!problem.earlyUpdates)
    return schedule;
  return Scheduler(plan, /*early=*/true, plan.groupsToKeep(first.secondsLeft()), std::move(whole)).run();
}
