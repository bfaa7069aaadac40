//===- LossRows.h - losses that are sums over rows --------------*- C++ -*-===//
#ifndef BRAID_PASSES_MEMORY_LOSSROWS_H
#define BRAID_PASSES_MEMORY_LOSSROWS_H

#include "dialects/TG/TG.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// The losses of forward that are one number, of logits that have rows; those of the largest logits first.
llvm::SmallVector<LossOpInterface> lossesOf(mlir::func::FuncOp function);

/// How many rows its logits have.
int64_t rowsOf(LossOpInterface loss);

} // namespace braid

#endif // BRAID_PASSES_MEMORY_LOSSROWS_H
