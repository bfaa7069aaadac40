//===- Summary.h - prints facts about a schedule ----------------*- C++ -*-===//
#ifndef BRAID_TOOLS_BRAID_SCHEDULE_SUMMARY_H
#define BRAID_TOOLS_BRAID_SCHEDULE_SUMMARY_H

#include "tools/braid-schedule/Result.h"
#include "llvm/Support/raw_ostream.h"

namespace braid::schedule {

/// Returns `zb-h1: 4 ranks, 8 microbatches, 1 chunk a rank`.
std::string titleOf(const Options &options, const Result &result);

/// Prints figures, the actions of each rank, and the timeline.
void printSummary(const Options &options, const Result &result, llvm::raw_ostream &os);

/// Prints a line for each schedule, or the reason why it is not possible.
void printComparison(const Options &options, std::vector<std::pair<std::string, llvm::Expected<Result>>> &results,
                     llvm::raw_ostream &os);

} // namespace braid::schedule

#endif // BRAID_TOOLS_BRAID_SCHEDULE_SUMMARY_H
