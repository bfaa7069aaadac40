//===- Simulate.cpp - when each cell of a schedule takes place ------------===//

#include "lib/Pipeline/Simulate.h"
#include "lib/Pipeline/Failure.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <numeric>

using namespace braid::pipeline;
using llvm::Error;

double StageTimes::of(Action action) const {
  switch (action) {
  case Action::Forward:
    return forward;
  case Action::InputGradient:
    return inputGradient;
  case Action::WeightGradient:
    return weightGradient;
  case Action::Backward:
    return inputGradient + weightGradient;
  }
  llvm_unreachable("there are four actions");
}

Error braid::pipeline::check(const Schedule &schedule, const std::vector<StageTimes> &stages) {
  if (stages.size() != schedule.numStages())
    return failure("there are times of {0} for {1}", counted(stages.size(), "stage"),
                   counted(schedule.numStages(), "stage"));
  double sum = 0;
  for (auto [number, stage] : llvm::enumerate(stages)) {
    for (double time :
         {stage.forward, stage.inputGradient, stage.weightGradient, stage.sendActivation, stage.sendGradient})
      if (!std::isfinite(time) || time < 0)
        return failure("stage {0} has the time {1}, which is not a number of 0 or more", number, time);
    sum += stage.forward + stage.of(Action::Backward);
  }
  return sum > 0 ? Error::success() : failure("no stage takes any time");
}

/// What passes between a cell's end and the moment from which another can take what it made.
static double delay(const Schedule &schedule, Place from, Place to, const std::vector<StageTimes> &stages) {
  if (from.rank == to.rank)
    return 0;
  const Cell &producer = schedule.at(from);
  const StageTimes &times = stages[producer.stage];
  return producer.action == Action::Forward ? times.sendActivation : times.sendGradient;
}

Simulation braid::pipeline::simulate(const Schedule &schedule, const std::vector<StageTimes> &stages) {
  Simulation result;
  for (const Table::Row &row : schedule.getTable().rows)
    result.spans.emplace_back(row.size());
  result.busy.resize(schedule.numRanks());
  schedule.walk([&](Place place) {
    const Cell &cell = schedule.at(place);
    std::vector<Span> &row = result.spans[place.rank];
    double begin = place.index ? row[place.index - 1].end : 0;
    for (Place input : schedule.inputsOf(cell))
      begin = std::max(begin, result.spans[input.rank][input.index].end + delay(schedule, input, place, stages));
    double time = stages[cell.stage].of(cell.action);
    row[place.index] = {begin, begin + time};
    result.busy[place.rank] += time;
    result.end = std::max(result.end, begin + time);
  });
  double whole = result.end * schedule.numRanks();
  result.bubble = (whole - std::accumulate(result.busy.begin(), result.busy.end(), 0.0)) / whole;
  return result;
}
