//===- Dependence.h - what depends on weights and on inputs ------*- C++ -*-===//
#ifndef BRAID_PASSES_STAGES_DEPENDENCE_H
#define BRAID_PASSES_STAGES_DEPENDENCE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace braid {

/// The ops of a program whose results depend on weights and on inputs: activations, and what is made of
/// them.  Others, such as masks and gathered parameters, any stage can compute for itself.
class Dependence {
public:
  explicit Dependence(mlir::func::FuncOp program);
  bool isOfStage(mlir::Operation *op) const { return ofStages.contains(op); }

private:
  llvm::DenseSet<mlir::Operation *> ofStages;
};

} // namespace braid

#endif // BRAID_PASSES_STAGES_DEPENDENCE_H
