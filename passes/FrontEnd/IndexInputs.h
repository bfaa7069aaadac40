//===- IndexInputs.h - inputs that are used as indices ----------*- C++ -*-===//
#ifndef BRAID_PASSES_FRONTEND_INDEXINPUTS_H
#define BRAID_PASSES_FRONTEND_INDEXINPUTS_H

#include "dialects/Interfaces/Indexing.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// An input, and the index range that all ops accept that use it as an index.
struct IndexInput {
  mlir::BlockArgument input;
  IndexRange range;
};

/// Returns the inputs of `model` that are used as indices, directly or moved (reshaped, sliced, converted). Does not
/// follow computed values, because their range differs from the input's.
llvm::SmallVector<IndexInput> findIndexInputs(mlir::func::FuncOp model);

} // namespace braid

#endif // BRAID_PASSES_FRONTEND_INDEXINPUTS_H
