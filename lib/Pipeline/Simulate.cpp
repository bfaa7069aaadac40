//===- Simulate.cpp - times of the cells of a schedule --------------------===//

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
    return failure("there are times for {0}, but the schedule has {1}", counted(stages.size(), "stage"),
                   counted(schedule.numStages(), "stage"));
  double sum = 0;
  for (auto [number, stage] : llvm::enumerate(stages)) {
    for (double time :
         {stage.forward, stage.inputGradient, stage.weightGradient, stage.sendActivation, stage.sendGradient})
      if (!std::isfinite(time) || time < 0)
        return failure("stage {0} has the time {1}, but needs a number of at least 0", number, time);
    sum += stage.forward + stage.of(Action::Backward);
  }
  return sum > 0 ? Error::success() : failure("the time of every stage is 0; give at least one a time above 0");
}

Simulation::Simulation(const Schedule &schedule) : busy(schedule.numRanks()) {
  for (const Table::Row &row : schedule.getTable().rows)
    spans.emplace_back(row.size());
}

void Simulation::put(Place place, double begin, double time) {
  spans[place.rank][place.index] = {begin, begin + time};
  busy[place.rank] += time;
  end = std::max(end, begin + time);
}

void Simulation::finish() {
  double whole = end * busy.size();
  bubble = (whole - std::accumulate(busy.begin(), busy.end(), 0.0)) / whole;
}

Simulation braid::pipeline::simulate(const Schedule &schedule, const std::vector<StageTimes> &stages) {
  Simulation result(schedule);
  schedule.walk([&](Place place) {
    const Cell &cell = schedule.at(place);
    double begin = place.index ? result.spans[place.rank][place.index - 1].end : 0;
    for (Place input : schedule.inputsOf(cell)) {
      const Cell &producer = schedule.at(input);
      double message = input.rank == place.rank ? 0 : stages[producer.stage].ofMessage(producer.action);
      begin = std::max(begin, result.spans[input.rank][input.index].end + message);
    }
    result.put(place, begin, stages[cell.stage].of(cell.action));
  });
  result.finish();
  return result;
}
