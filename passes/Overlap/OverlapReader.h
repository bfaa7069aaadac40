//===- OverlapReader.h - a program of ranks as an overlap problem -*- C++ -*-===//
#ifndef BRAID_PASSES_OVERLAP_OVERLAPREADER_H
#define BRAID_PASSES_OVERLAP_OVERLAPREADER_H

#include "lib/Actions/ActionGraph.h"
#include "lib/Cost/Machine.h"
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

/// An error where an op of the function is neither an action nor a tie.
mlir::LogicalResult requireActions(mlir::func::FuncOp function);

/// Reads a function on values without comm.start that has actions alone; an error where the
/// mesh of a collective is unknown.  `graph` is that of the function, with the order that shared
/// memory asks for.
mlir::FailureOr<OverlapProgram> readOverlapProgram(mlir::func::FuncOp function, const ActionGraph &graph,
                                                   const Machine &machine);

/// Puts the function's ops in the order of the schedule, collectives and copies as starts and
/// waits; those that are waited for at once stay as they are.
/// `places` gets those of the waits' results.
void applySchedule(mlir::func::FuncOp function, const OverlapProgram &program, const OverlapSchedule &schedule,
                   Places &places);

} // namespace braid

#endif // BRAID_PASSES_OVERLAP_OVERLAPREADER_H
