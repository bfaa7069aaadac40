//===- LossTargets.h - the input that a loss can leave rows of out -*- C++ -*-===//
#ifndef BRAID_PASSES_GRAPH_LOSSTARGETS_H
#define BRAID_PASSES_GRAPH_LOSSTARGETS_H

#include "dialects/TG/TG.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>

namespace braid {

struct LossTargets {
  mlir::BlockArgument input; ///< i32, its dim 0 is the batch.
  int32_t ignored;           ///< The index that the loss leaves out.
  tg::LossReduction reduction;
  /// Whether a row of the batch whose targets are all ignored changes neither the loss nor a gradient: nothing else
  /// mixes the examples.  So a batch of fewer rows can be written as one that is whole.
  bool leavesOutRows;
};

/// The targets of the loss of `model` if the loss leaves out those that are the ignored index: it is a cross
/// entropy, or the mean of one to which other terms are added, and the cross entropy alone reads the targets.
std::optional<LossTargets> findLossTargets(mlir::func::FuncOp model);

} // namespace braid

#endif // BRAID_PASSES_GRAPH_LOSSTARGETS_H
