//===- Dependence.h - dependence on weights and inputs ----------*- C++ -*-===//
#ifndef BRAID_PASSES_STAGES_DEPENDENCE_H
#define BRAID_PASSES_STAGES_DEPENDENCE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace braid {

/// The ops of a program whose results depend on both weights and inputs: activations, and values computed from them.
/// Any stage can compute other values itself, such as masks and gathered parameters.
class Dependence {
public:
  explicit Dependence(mlir::func::FuncOp program);
  bool isOfStage(mlir::Operation *op) const { return ofStages.contains(op); }

private:
  llvm::DenseSet<mlir::Operation *> ofStages;
};

} // namespace braid

#endif // BRAID_PASSES_STAGES_DEPENDENCE_H
