//===- Summary.h - what braid-schedule says of a schedule -------*- C++ -*-===//
#ifndef BRAID_TOOLS_BRAID_SCHEDULE_SUMMARY_H
#define BRAID_TOOLS_BRAID_SCHEDULE_SUMMARY_H

#include "tools/braid-schedule/Result.h"
#include "llvm/Support/raw_ostream.h"

namespace braid::schedule {

/// `zb-h1: 4 ranks, 8 microbatches, 1 chunk a rank`
std::string titleOf(const Options &options, const Result &result);

/// Figures, what each rank does, and the timeline.
void printSummary(const Options &options, const Result &result, llvm::raw_ostream &os);

/// A line for each schedule, or why there is none.
void printComparison(const Options &options, std::vector<std::pair<std::string, llvm::Expected<Result>>> &results,
                     llvm::raw_ostream &os);

} // namespace braid::schedule

#endif // BRAID_TOOLS_BRAID_SCHEDULE_SUMMARY_H
