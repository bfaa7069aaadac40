//===- LossTargets.h - targets that a loss can ignore -----------*- C++ -*-===//
#ifndef BRAID_PASSES_FRONTEND_LOSSTARGETS_H
#define BRAID_PASSES_FRONTEND_LOSSTARGETS_H

#include "dialects/TG/TG.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>

namespace braid {

struct LossTargets {
  mlir::BlockArgument input; ///< i32; dim 0 is the batch.
  int32_t ignored;           ///< The ignore index of the loss.
  tg::LossReduction reduction;
  /// Whether a row of the batch with only ignored targets changes neither the loss nor a gradient, because only the
  /// loss mixes examples. A smaller batch can then be padded with such rows.
  bool leavesOutRows;
};

/// Returns the targets of the loss of `model`, if the loss ignores those with the ignore index. The loss is a cross
/// entropy, or the mean of one to which other terms are added, and only the cross entropy reads the targets.
std::optional<LossTargets> findLossTargets(mlir::func::FuncOp model);

} // namespace braid

#endif // BRAID_PASSES_FRONTEND_LOSSTARGETS_H
