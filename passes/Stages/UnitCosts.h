//===- UnitCosts.h - costs of units in a stage ------------------*- C++ -*-===//
#ifndef BRAID_PASSES_STAGES_UNITCOSTS_H
#define BRAID_PASSES_STAGES_UNITCOSTS_H

#include "lib/Cost/Machine.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <vector>

namespace braid {

/// Predicted costs of each range of units [begin, end), before stages are cut. An op without a unit counts with the
/// first unit if it precedes all units in forward, else with the last unit.
class UnitCosts {
public:
  /// Measures `program`, which runs one microbatch, with `units` in forward order.
  UnitCosts(mlir::func::FuncOp program, llvm::ArrayRef<mlir::StringAttr> units, const Machine &machine);

  /// Returns the seconds of a microbatch, forward and backward.
  double seconds(unsigned begin, unsigned end) const { return secondsBefore[end] - secondsBefore[begin]; }
  /// Returns bytes without library workspaces. They consist of parameters, gradients and optimizer state, each once;
  /// the forward values kept for backward of `held` microbatches; and the other values live while a unit computes.
  double bytes(unsigned begin, unsigned end, unsigned held) const {
    return fixedBytes[begin][end - begin - 1] + held * (keptBefore[end] - keptBefore[begin]);
  }

private:
  std::vector<double> secondsBefore, keptBefore;
  /// `fixedBytes[i][j]`: bytes of units [i, i + j + 1) that do not depend on `held`.
  std::vector<std::vector<double>> fixedBytes;
};

} // namespace braid

#endif // BRAID_PASSES_STAGES_UNITCOSTS_H
