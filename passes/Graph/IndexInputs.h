//===- IndexInputs.h - the inputs that a graph indexes with -----*- C++ -*-===//
#ifndef BRAID_PASSES_GRAPH_INDEXINPUTS_H
#define BRAID_PASSES_GRAPH_INDEXINPUTS_H

#include "dialects/Interfaces/Indexing.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// An input, and the numbers that all ops that use it as an index take.
struct IndexInput {
  mlir::BlockArgument input;
  IndexRange range;
};

/// The inputs of `model` whose numbers are indices, as they are or moved (reshaped, sliced,
/// converted).  What is computed from an input is not followed: its range is not the input's.
llvm::SmallVector<IndexInput> findIndexInputs(mlir::func::FuncOp model);

} // namespace braid

#endif // BRAID_PASSES_GRAPH_INDEXINPUTS_H
