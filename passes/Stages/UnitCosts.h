//===- UnitCosts.h - what units cost the stage that has them ------*- C++ -*-===//
#ifndef BRAID_PASSES_STAGES_UNITCOSTS_H
#define BRAID_PASSES_STAGES_UNITCOSTS_H

#include "lib/Cost/Machine.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <vector>

namespace braid {

/// Predicted before stages are cut, of each range of units [begin, end).  What no unit has counts with the
/// first where it comes before all of them in forward, else with the last.
class UnitCosts {
public:
  /// Of `program`, which runs one microbatch, in the order of forward.
  UnitCosts(mlir::func::FuncOp program, llvm::ArrayRef<mlir::StringAttr> units, const Machine &machine);

  /// Of a microbatch, forward and back.
  double seconds(unsigned begin, unsigned end) const { return secondsBefore[end] - secondsBefore[begin]; }
  /// Parameters with their gradients and the optimizer's state, each once; what forward leaves for backward
  /// of as many microbatches as are held; and what is live beside that while a unit computes, without workspaces
  /// of libraries.
  double bytes(unsigned begin, unsigned end, unsigned held) const {
    return fixedBytes[begin][end - begin - 1] + held * (keptBefore[end] - keptBefore[begin]);
  }

private:
  std::vector<double> secondsBefore, keptBefore;
  /// Of the units from the first index on, as many as the second and one.
  std::vector<std::vector<double>> fixedBytes;
};

} // namespace braid

#endif // BRAID_PASSES_STAGES_UNITCOSTS_H
