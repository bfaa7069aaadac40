//===- OverlapScheduler.h - one walk through the program --------*- C++ -*-===//
//
// The class behind `solve`. Overlap.cpp explains the walk, and OverlapStarts.cpp decides when communications start.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SCHEDULE_OVERLAPSCHEDULER_H
#define BRAID_LIB_SCHEDULE_OVERLAPSCHEDULER_H

#include "lib/Schedule/OverlapPlan.h"
#include "lib/Schedule/Timeline.h"
#include "lib/Schedule/WholeSchedule.h"
#include "llvm/ADT/DenseSet.h"
#include <deque>
#include <set>

namespace braid {

class Scheduler {
public:
  /// Groups marked in `late` run behind the backward pass, or where computing would stall.
  Scheduler(const OverlapPlan &plan, bool early, std::vector<bool> late, std::optional<WholeSchedule> whole);

  OverlapSchedule run();
  /// For each group: the seconds that remain until its gradients are reduced, counted from the end of all computing
  /// except updates.
  const std::vector<double> &secondsLeft() const { return left; }

private:
  enum class State : uint8_t { Waiting, Begun, Ended };

  const OverlapProblem::Action &action(unsigned number) const { return problem.actions[number]; }
  bool isFetch(unsigned number) const {
    return action(number).kind == OverlapProblem::Kind::Gather && action(number).queue == problem.kFromHost;
  }
  bool hasEnded(unsigned number) const { return states[number] == State::Ended; }
  /// Whether waiting for a collective does not stall.
  bool mustHaveEnded(unsigned number) const {
    return hasEnded(number) || (states[number] == State::Begun && queues.latestEnd(number) <= queues.now);
  }

  // Steps for one action, with all steps that it still waits for.
  void finish(unsigned number);
  void compute(unsigned number);
  void start(unsigned number);
  void wait(unsigned number);
  void setEnded(unsigned number);
  void addStep(OverlapStep step);

  // The steps up to the end of an action, or up to its start.
  struct RequiredSteps {
    std::vector<OverlapStep> steps;
    llvm::DenseSet<unsigned> begun, ended;
  };
  void addToEnd(unsigned number, RequiredSteps &needed) const;
  void addToStart(unsigned number, RequiredSteps &needed) const;

  // The memory limit.
  bool fitsToStart(unsigned number);
  bool bringForward(llvm::ArrayRef<unsigned> actions);
  void runUntilFits(unsigned number);

  // Decisions between two actions.
  void settle();
  bool runGroup(bool alsoLate);
  void startCollectives();
  std::optional<unsigned> readyCollective();
  bool isLate(unsigned queue, unsigned first, double linkFree, double readyBy);
  std::optional<unsigned> urgentGather(unsigned queue, std::optional<unsigned> rival);
  std::optional<unsigned> fetchForGroup();
  bool canPrecompute(unsigned number, unsigned &budget) const;
  bool isReady(const OverlapPlan::Group &group) const;
  void serveHost();
  void startWithCheapProducers();
  void runRemainingUpdates();

  const OverlapPlan &plan;
  const OverlapProblem &problem;
  bool early;
  std::vector<bool> late;
  /// The complete schedule; none without a memory limit.
  std::optional<WholeSchedule> whole;

  Queues queues;
  OverlapSchedule schedule;
  std::vector<State> states;
  std::vector<unsigned> numPendingNeeds;
  /// Next position in the plan's `main`.
  unsigned next = 0;
  /// For each queue, the first gather that has not started.
  std::array<unsigned, OverlapProblem::kNumQueues> nextGather = {};
  /// Collectives that can start; collectives in flight; and those of them that are waited for as soon as they have
  /// ended.
  std::set<unsigned> ready;
  std::deque<unsigned> inFlight, settling;
  /// Fetches for updates of groups that have not all run, and write-backs.
  std::vector<unsigned> fetched;
  std::deque<unsigned> writeBacks;
  /// Groups whose collective has started, and which groups have run.
  std::vector<unsigned> armed;
  std::vector<bool> hasRun;
  std::vector<double> left;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_OVERLAPSCHEDULER_H
