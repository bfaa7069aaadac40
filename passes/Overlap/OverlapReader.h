//===- OverlapReader.h - a program of ranks as an overlap problem -*- C++ -*-===//
#ifndef BRAID_PASSES_OVERLAP_OVERLAPREADER_H
#define BRAID_PASSES_OVERLAP_OVERLAPREADER_H

#include "lib/Actions/ActionGraph.h"
#include "lib/Cost/Machine.h"
#include "lib/Schedule/Overlap.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// An overlap problem, and the op of each of its actions.
struct OverlapProgram {
  OverlapProblem problem;
  std::vector<exec::ActionOpInterface> actions;
  /// Actions that compute new values of parameters and states, in order.
  std::vector<unsigned> writers;
};

/// Emits an error if an op of the function is neither an action nor a tie.
mlir::LogicalResult requireActions(mlir::func::FuncOp function);

/// Reads a function in value form that has only actions and no comm.start. Fails if the mesh of a collective is
/// unknown. `graph` is the graph of the function, with the order that shared memory requires.
mlir::FailureOr<OverlapProgram> readOverlapProgram(mlir::func::FuncOp function, const ActionGraph &graph,
                                                   const Machine &machine);

/// Puts the function's ops in the order of the schedule, and splits collectives and copies into starts and waits.
/// Those with the wait right behind them stay whole. Adds the places of the waits' results to `places`.
void applySchedule(mlir::func::FuncOp function, const OverlapProgram &program, const OverlapSchedule &schedule,
                   Places &places);

} // namespace braid

#endif // BRAID_PASSES_OVERLAP_OVERLAPREADER_H
