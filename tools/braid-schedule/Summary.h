//===- Summary.h - what braid-schedule says of a schedule -------*- C++ -*-===//
#ifndef BRAID_TOOLS_BRAID_SCHEDULE_SUMMARY_H
#define BRAID_TOOLS_BRAID_SCHEDULE_SUMMARY_H

#include "lib/Pipeline/Generators.h"
#include "lib/Pipeline/Simulate.h"
#include "tools/braid-schedule/Options.h"
#include "llvm/Support/raw_ostream.h"

namespace braid::schedule {

/// A schedule and what is known of it.
struct Result {
  /// Null for a table of a file.
  const pipeline::Generator *generator = nullptr;
  pipeline::Schedule schedule;
  /// In the unit of the times that were given.
  pipeline::Simulation simulation;
  /// The end, if each rank carries out its messages one after the other.
  double queued = 0;

  /// Stages on a rank, which may be no whole number in a table of a file.
  double chunks() const { return static_cast<double>(schedule.numStages()) / schedule.numRanks(); }
};

/// `zb-h1: 4 ranks, 8 microbatches, 1 chunk a rank`
std::string titleOf(const Options &options, const Result &result);

/// With as many digits as it needs, at most four.
std::string numberText(double value);

void printSummary(const Options &options, const Result &result, llvm::raw_ostream &os);

} // namespace braid::schedule

#endif // BRAID_TOOLS_BRAID_SCHEDULE_SUMMARY_H
