//===- OverlapReader.h - a program of ranks as an overlap problem -*- C++ -*-===//
#ifndef BRAID_PASSES_OVERLAP_OVERLAPREADER_H
#define BRAID_PASSES_OVERLAP_OVERLAPREADER_H

#include "lib/Cost/Cost.h"
#include "lib/Schedule/Overlap.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// What the problem's actions stand for.
struct OverlapProgram {
  OverlapProblem problem;
  std::vector<exec::ActionOpInterface> actions;
  /// Those that make new values of parameters and states, in their order.
  std::vector<unsigned> writers;
};

/// Reads a function on values without comm.start; an error where an op is neither an
/// action nor a tie, and where the mesh of a collective is unknown.
mlir::FailureOr<OverlapProgram> readOverlapProgram(mlir::func::FuncOp function, const ComputeRates &compute,
                                                   const LinkRates &link, const TargetInfo &target);

/// Puts the function's ops in the order of the schedule, collectives as starts and
/// waits; those that are waited for at once stay as they are.
void applySchedule(mlir::func::FuncOp function, const OverlapProgram &program, const OverlapSchedule &schedule);

} // namespace braid

#endif // BRAID_PASSES_OVERLAP_OVERLAPREADER_H
