//===- OverlapVerifier.cpp - checks a schedule ----------------------------===//
//
// Executes a schedule step by step, without knowledge of the scheduler.
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/Overlap.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include <array>

using namespace braid;
using Action = OverlapProblem::Action;
using Kind = OverlapProblem::Kind;

template <typename... Values> static llvm::Error error(const char *format, Values... values) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), format, values...);
}

llvm::Error braid::check(const OverlapProblem &problem) {
  for (unsigned number = 0; number < problem.actions.size(); ++number) {
    const Action &action = problem.actions[number];
    if (!(action.seconds >= 0))
      return error("action %u takes %g seconds", number, action.seconds);
    for (const auto *list : {&action.dependences, &action.antiDependences})
      for (unsigned other : *list)
        if (other >= number)
          return error("action %u comes after action %u in the program, but before it in its order", number, other);
  }
  for (const OverlapProblem::Buffer &buffer : problem.buffers)
    for (unsigned user : buffer.users)
      if (user >= problem.actions.size() || buffer.bytes < 0)
        return error("a buffer of %lld bytes is used by action %u of %zu", static_cast<long long>(buffer.bytes), user,
                     problem.actions.size());
  return llvm::Error::success();
}

namespace {
/// State of the execution up to a step.
class Progress {
public:
  explicit Progress(const OverlapProblem &problem)
      : problem(problem), begun(problem.actions.size()), ended(problem.actions.size()),
        forUpdates(problem.actions.size()) {
    for (unsigned number = 0; number < problem.actions.size(); ++number)
      for (unsigned dependence : problem.actions[number].dependences) {
        if (problem.actions[dependence].kind != Kind::Gather)
          continue;
        firstUse[problem.actions[dependence].queue].try_emplace(problem.actions[dependence].unit, number);
        if (problem.actions[number].kind == Kind::Update)
          forUpdates.set(dependence);
      }
  }

  llvm::Error advance(OverlapStep step);
  llvm::Error finish() const {
    return ended.all() || ended.empty() ? llvm::Error::success()
                                        : error("action %d is never over", ended.find_first_unset());
  }

private:
  llvm::Error begin(unsigned number);
  llvm::Error verifyPrefetch(unsigned number);

  const OverlapProblem &problem;
  llvm::BitVector begun, ended;
  /// Gathers that updates need, which may come in any order.
  llvm::BitVector forUpdates;
  /// For each queue, the earliest user of each unit's gathers.
  std::array<llvm::DenseMap<unsigned, unsigned>, OverlapProblem::kNumQueues> firstUse;
  /// All computing actions before this one have ended.
  unsigned computed = 0;
  unsigned lastOrdered = 0;
};
} // namespace

/// Checks that a gather of a unit starts after all computing before the unit that is `prefetch` units earlier.
llvm::Error Progress::verifyPrefetch(unsigned number) {
  unsigned unit = problem.actions[number].unit, queue = problem.actions[number].queue;
  unsigned ahead = problem.maxAhead(queue);
  if (unit <= ahead || forUpdates[number])
    return llvm::Error::success();
  auto use = firstUse[queue].find(unit - ahead);
  while (computed < problem.actions.size() && (problem.actions[computed].kind != Kind::Compute || ended[computed]))
    ++computed;
  if (use == firstUse[queue].end() || computed >= use->second)
    return llvm::Error::success();
  return error("gather %u of unit %u starts before action %u, more than %u units ahead", number, unit, computed, ahead);
}

llvm::Error Progress::begin(unsigned number) {
  const Action &action = problem.actions[number];
  if (begun[number])
    return error("action %u begins twice", number);
  for (const auto *list : {&action.dependences, &action.antiDependences})
    for (unsigned other : *list)
      if (!ended[other])
        return error("action %u begins before action %u is over", number, other);
  if (action.kind == Kind::Gather)
    if (llvm::Error failed = verifyPrefetch(number))
      return failed;
  if (action.ordered && number < lastOrdered)
    return error("collective %u starts after collective %u, which comes later in the program", number, lastOrdered);
  if (action.ordered)
    lastOrdered = number;
  begun.set(number);
  return llvm::Error::success();
}

llvm::Error Progress::advance(OverlapStep step) {
  if (problem.actions[step.action].communicates() != (step.kind != OverlapStep::Run))
    return error("action %u is not of the kind of its step", step.action);
  if (step.kind != OverlapStep::Wait) {
    if (llvm::Error failed = begin(step.action))
      return failed;
  } else if (!begun[step.action] || ended[step.action]) {
    return error("collective %u is waited for before its start, or twice", step.action);
  }
  if (step.kind != OverlapStep::Start)
    ended.set(step.action);
  return llvm::Error::success();
}

llvm::Error braid::verify(const OverlapProblem &problem, const OverlapSchedule &schedule) {
  Progress progress(problem);
  for (OverlapStep step : schedule.steps)
    if (llvm::Error failed = progress.advance(step))
      return failed;
  if (llvm::Error failed = progress.finish())
    return failed;
  if (!problem.limit)
    return llvm::Error::success();
  int64_t peak = peakBytes(problem, schedule), small = peakBytes(problem, leastMemorySchedule(problem));
  if (peak > *problem.limit && peak > small)
    return error("%lld bytes are live, more than the limit of %lld and than the %lld that another order needs",
                 static_cast<long long>(peak), static_cast<long long>(*problem.limit), static_cast<long long>(small));
  return llvm::Error::success();
}
