//===- Compare.h - memory and time of each stage of ZeRO --------*- C++ -*-===//
//
// Plans the graph for every stage of ZeRO, without generating code. Lists the memory, communication and predicted time
// of a rank side by side, and the lowest stage that fits.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMPILER_DRIVER_COMPARE_H
#define BRAID_COMPILER_DRIVER_COMPARE_H

#include "compiler/Driver/Pipeline.h"
#include <string>
#include <vector>

namespace braid {

struct ComparedStage {
  int64_t zero;
  Report report;
};

/// Memory that a rank may use, and the source of this limit.
struct RankMemory {
  int64_t bytes;
  std::string reason;
};

struct Comparison {
  std::vector<ComparedStage> stages;
  /// Memory and communication of the root with --strategy=dataparallel, for comparison with stage 0.
  std::optional<Report> rootParallel;
  RankMemory memory;

  /// Returns the lowest stage whose arena fits, or none if no stage fits.
  std::optional<int64_t> lowestFittingStage() const;
};

/// Plans the graph `module` for every stage of ZeRO.
mlir::FailureOr<Comparison> compareStages(mlir::ModuleOp module, const DriverOptions &options, PhaseClock &clock);

void printComparison(llvm::raw_ostream &stream, const Comparison &comparison);
std::string comparisonJson(const Comparison &comparison);

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_COMPARE_H
