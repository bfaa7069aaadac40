//===- Timeline.h - times of a schedule's actions ---------------*- C++ -*-===//
//
// Simulates computing, which also issues starts and stalls at waits, and the parallel queues, each of which works in
// the order of starts.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SCHEDULE_TIMELINE_H
#define BRAID_LIB_SCHEDULE_TIMELINE_H

#include "lib/Schedule/Overlap.h"
#include <array>

namespace braid {

/// Clocks of computing and of the queues during the execution of a schedule.
class Queues {
public:
  explicit Queues(const OverlapProblem &problem) : problem(problem), ends(problem.actions.size(), 0) {}

  void run(unsigned action) { ends[action] = now += problem.actions[action].seconds; }
  void start(unsigned action) {
    double &link = links[problem.actions[action].queue];
    link = (link > now ? link : now) + problem.actions[action].seconds;
    ends[action] = link;
  }
  /// Waits for an action. Returns the seconds that computing stalls.
  double wait(unsigned action) {
    double exposed = ends[action] > now ? ends[action] - now : 0;
    now += exposed;
    return exposed;
  }

  /// Returns the end time of an action, which must have begun.
  double end(unsigned action) const { return ends[action]; }
  /// Returns the time from which the action has surely ended.
  double latestEnd(unsigned action) const {
    return ends[action] + (problem.contention - 1) * problem.actions[action].seconds + problem.slack;
  }
  /// Current time of computing, and the time at which each queue becomes idle.
  double now = 0;
  std::array<double, OverlapProblem::kNumQueues> links = {};

private:
  const OverlapProblem &problem;
  std::vector<double> ends;
};

struct Timeline {
  struct Collective {
    double seconds = 0;
    /// Seconds that computing stalls at its wait.
    double exposed = 0;
    /// The action that delayed its start on the link: the last to end of its needs and the previous communication on
    /// its queue.
    std::optional<unsigned> waitsFor;
  };

  double seconds = 0;
  /// Times by action; empty for actions that compute.
  std::vector<Collective> collectives;
};

/// Simulates a schedule that passed `verify`.
Timeline simulate(const OverlapProblem &problem, const OverlapSchedule &schedule);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_TIMELINE_H
