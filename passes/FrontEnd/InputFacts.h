//===- InputFacts.h - facts about a model's inputs --------------*- C++ -*-===//
#ifndef BRAID_PASSES_FRONTEND_INPUTFACTS_H
#define BRAID_PASSES_FRONTEND_INPUTFACTS_H

#include "dialects/TG/TrainingFacts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// Returns the inputs of `model` that are used as indices, directly or moved (reshaped, sliced, converted), with the
/// range that all ops accept. Does not follow computed values, because their range differs from the input's.
std::vector<tg::IndexedBy> findIndexInputs(mlir::func::FuncOp model);

/// Returns the targets of the loss of `model`, if the loss ignores those with the ignore index. The loss is a cross
/// entropy, or the mean of one to which other terms are added, and only the cross entropy reads the targets. A row of
/// the batch with only ignored targets changes nothing if only the loss mixes examples.
std::optional<tg::IgnoredTargets> findIgnoredTargets(mlir::func::FuncOp model);

} // namespace braid

#endif // BRAID_PASSES_FRONTEND_INPUTFACTS_H
