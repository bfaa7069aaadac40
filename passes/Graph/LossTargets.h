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
};

/// The targets of the loss of `model`, if a row of the batch whose targets are all
/// ignored changes neither the loss nor a gradient: the loss is a cross entropy
/// over the batch, no op before it mixes the examples, and it alone reads the
/// targets.  So a batch of fewer rows can be written as one that is whole.
std::optional<LossTargets> findLossTargets(mlir::func::FuncOp model);

} // namespace braid

#endif // BRAID_PASSES_GRAPH_LOSSTARGETS_H
