//===- Result.h - facts about a schedule ------------------------*- C++ -*-===//
#ifndef BRAID_TOOLS_BRAID_SCHEDULE_RESULT_H
#define BRAID_TOOLS_BRAID_SCHEDULE_RESULT_H

#include "lib/Pipeline/Generators.h"
#include "lib/Pipeline/Messages.h"
#include "tools/braid-schedule/Options.h"

namespace braid::schedule {

/// A schedule and its properties.
struct Result {
  /// Null for a table from a file.
  const pipeline::Generator *generator = nullptr;
  pipeline::Schedule schedule;
  /// In the unit of the given times.
  pipeline::Simulation simulation;
  pipeline::MessagePlan messages;
  /// End time if each rank carries out its messages one after the other.
  double queued = 0;

  /// Returns the number of stages per rank, which may be fractional for a table from a file.
  double chunks() const { return static_cast<double>(schedule.numStages()) / schedule.numRanks(); }
};

/// Generates or reads the schedule, verifies and simulates it.
llvm::Expected<Result> resultOf(const Options &options);

/// Returns the number with the necessary digits, at most four.
std::string numberText(double value);

} // namespace braid::schedule

#endif // BRAID_TOOLS_BRAID_SCHEDULE_RESULT_H
