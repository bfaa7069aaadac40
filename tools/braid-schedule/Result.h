//===- Result.h - what braid-schedule finds out about a schedule *- C++ -*-===//
#ifndef BRAID_TOOLS_BRAID_SCHEDULE_RESULT_H
#define BRAID_TOOLS_BRAID_SCHEDULE_RESULT_H

#include "lib/Pipeline/Generators.h"
#include "lib/Pipeline/Messages.h"
#include "tools/braid-schedule/Options.h"

namespace braid::schedule {

/// A schedule and what is known of it.
struct Result {
  /// Null for a table of a file.
  const pipeline::Generator *generator = nullptr;
  pipeline::Schedule schedule;
  /// In the unit of the times that were given.
  pipeline::Simulation simulation;
  pipeline::MessagePlan messages;
  /// The end, if each rank carries out its messages one after the other.
  double queued = 0;

  /// Stages on a rank, which may be no whole number in a table of a file.
  double chunks() const { return static_cast<double>(schedule.numStages()) / schedule.numRanks(); }
};

/// Makes or reads the schedule, verifies and simulates it.
llvm::Expected<Result> resultOf(const Options &options);

/// With as many digits as it needs, at most four.
std::string numberText(double value);

} // namespace braid::schedule

#endif // BRAID_TOOLS_BRAID_SCHEDULE_RESULT_H
