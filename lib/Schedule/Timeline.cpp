//===- Timeline.cpp - times of a schedule's actions -----------------------===//

#include "lib/Schedule/Timeline.h"

using namespace braid;

Timeline braid::simulate(const OverlapProblem &problem, const OverlapSchedule &schedule) {
  Timeline timeline;
  timeline.collectives.resize(problem.actions.size());
  Queues queues(problem);
  std::array<std::optional<unsigned>, OverlapProblem::kNumQueues> lastStarted;
  for (OverlapStep step : schedule.steps) {
    const OverlapProblem::Action &action = problem.actions[step.action];
    Timeline::Collective &collective = timeline.collectives[step.action];
    switch (step.kind) {
    case OverlapStep::Run:
      queues.run(step.action);
      break;
    case OverlapStep::Start:
      collective.seconds = action.seconds;
      for (unsigned dependence : action.dependences)
        if (!collective.waitsFor || queues.end(dependence) >= queues.end(*collective.waitsFor))
          collective.waitsFor = dependence;
      if (queues.links[action.queue] > queues.now)
        collective.waitsFor = lastStarted[action.queue];
      lastStarted[action.queue] = step.action;
      queues.start(step.action);
      break;
    case OverlapStep::Wait:
      collective.exposed = queues.wait(step.action);
      break;
    }
  }
  timeline.seconds = queues.now;
  return timeline;
}
