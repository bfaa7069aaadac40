//===- LiveBytes.cpp - how much memory a schedule holds -------------------===//

#include "lib/Schedule/LiveBytes.h"

using namespace braid;

LiveBytes::LiveBytes(const OverlapProblem &problem)
    : problem(problem), buffersOf(problem.actions.size()), bytes(problem.baseBytes) {
  for (unsigned number = 0; number < problem.buffers.size(); ++number) {
    const OverlapProblem::Buffer &buffer = problem.buffers[number];
    usersLeft.push_back(buffer.users.size() + (buffer.toEnd ? 1 : 0));
    isLive.push_back(buffer.fromStart && usersLeft.back());
    if (isLive.back())
      bytes += buffer.bytes;
    for (unsigned user : buffer.users)
      buffersOf[user].push_back(number);
  }
  highest = bytes;
}

int64_t LiveBytes::taken(unsigned action) const {
  int64_t sum = 0;
  for (unsigned buffer : buffersOf[action])
    sum += isLive[buffer] ? 0 : problem.buffers[buffer].bytes;
  return sum;
}

int64_t LiveBytes::freed(unsigned action) const {
  int64_t sum = 0;
  for (unsigned buffer : buffersOf[action])
    sum += usersLeft[buffer] == 1 ? problem.buffers[buffer].bytes : 0;
  return sum;
}

void LiveBytes::begin(unsigned action) {
  bytes += taken(action);
  for (unsigned buffer : buffersOf[action])
    isLive[buffer] = true;
  highest = std::max(highest, bytes);
}

void LiveBytes::end(unsigned action) {
  bytes -= freed(action);
  for (unsigned buffer : buffersOf[action])
    --usersLeft[buffer];
}

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

int64_t braid::peakBytes(const OverlapProblem &problem, const OverlapSchedule &schedule) {
  LiveBytes live(problem);
  for (OverlapStep step : schedule.steps) {
    if (step.kind != OverlapStep::Wait)
      live.begin(step.action);
    if (step.kind != OverlapStep::Start)
      live.end(step.action);
  }
  return live.peak();
}
