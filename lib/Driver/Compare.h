//===- Compare.h - what each stage of ZeRO costs ----------------*- C++ -*-===//
//
// The graph is planned for every stage, nothing is translated: what a rank holds,
// moves and is predicted to take, side by side, and the lowest stage that fits.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_DRIVER_COMPARE_H
#define BRAID_LIB_DRIVER_COMPARE_H

#include "lib/Report/Report.h"
#include <string>
#include <vector>

namespace braid {

struct ComparedStage {
  int64_t zero;
  Report report;
};

/// The memory that a rank may take, and why.
struct RankMemory {
  int64_t bytes;
  std::string reason;
};

/// The limit if there is one; else a rank's share of what is available on this host,
/// where all `ranks` are taken to run.
RankMemory memoryOfRank(std::optional<int64_t> limit, int64_t ranks);

struct Comparison {
  std::vector<ComparedStage> stages;
  /// The classic form, for comparison with the first: what its root holds and moves.
  std::optional<Report> rootParallel;
  RankMemory memory;

  /// The lowest stage whose arena fits; none if none does.
  std::optional<int64_t> lowestThatFits() const;
};

void printComparison(llvm::raw_ostream &stream, const Comparison &comparison);
std::string comparisonJson(const Comparison &comparison);

} // namespace braid

#endif // BRAID_LIB_DRIVER_COMPARE_H
