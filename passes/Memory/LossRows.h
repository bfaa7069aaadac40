//===- LossRows.h - losses that are sums over rows --------------*- C++ -*-===//
#ifndef BRAID_PASSES_MEMORY_LOSSROWS_H
#define BRAID_PASSES_MEMORY_LOSSROWS_H

#include "dialects/TG/TG.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// Returns the scalar losses of forward whose logits have rows, those with the largest logits first.
llvm::SmallVector<LossOpInterface> lossesOf(mlir::func::FuncOp function);

/// Returns the number of rows of a loss's logits.
int64_t rowsOf(LossOpInterface loss);

} // namespace braid

#endif // BRAID_PASSES_MEMORY_LOSSROWS_H
