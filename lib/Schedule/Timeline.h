//===- Timeline.h - when a schedule's actions take place --------*- C++ -*-===//
//
// Computing, which also issues starts and stalls at waits, and beside it the queues, each
// of which works in the order of starts.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SCHEDULE_TIMELINE_H
#define BRAID_LIB_SCHEDULE_TIMELINE_H

#include "lib/Schedule/Overlap.h"
#include <array>

namespace braid {

/// The clocks of computing and of the queues while a schedule is carried out.
class Queues {
public:
  explicit Queues(const OverlapProblem &problem) : problem(problem), ends(problem.actions.size(), 0) {}

  void run(unsigned action) { ends[action] = now += problem.actions[action].seconds; }
  void start(unsigned action) {
    double &link = links[problem.actions[action].queue];
    link = (link > now ? link : now) + problem.actions[action].seconds;
    ends[action] = link;
  }
  /// How long computing stalls for it.
  double wait(unsigned action) {
    double exposed = ends[action] > now ? ends[action] - now : 0;
    now += exposed;
    return exposed;
  }

  /// When the action is over; it must have begun.
  double end(unsigned action) const { return ends[action]; }
  /// From when on it is surely over.
  double surelyOver(unsigned action) const {
    return ends[action] + (problem.contention - 1) * problem.actions[action].seconds + problem.slack;
  }
  /// The time of computing, and when each queue has nothing left to do.
  double now = 0;
  std::array<double, OverlapProblem::kNumQueues> links = {};

private:
  const OverlapProblem &problem;
  std::vector<double> ends;
};

struct Timeline {
  struct Collective {
    double seconds = 0;
    /// How long computing stalls at its wait.
    double exposed = 0;
    /// What ended last of all that its beginning on the link waited for: what it
    /// needs, or the collective before it on its queue.
    std::optional<unsigned> waitsFor;
  };

  double seconds = 0;
  /// By action; nothing is known of those that compute.
  std::vector<Collective> collectives;
};

/// Of a schedule that passed `verify`.
Timeline simulate(const OverlapProblem &problem, const OverlapSchedule &schedule);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_TIMELINE_H
