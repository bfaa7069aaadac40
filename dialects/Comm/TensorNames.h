//===- TensorNames.h - whose tensors a collective sends ---------*- C++ -*-===//
//
// The discardable attribute `comm.tensors` of a collective, on values and in memory:
// for each tensor that it sends a name that the graph gives, of a parameter or a
// state, or what a number is.
//
//   comm.tensors = ["h.0.mlp.weight", "h.0.mlp.bias"]
//
// Reports print it; nothing is decided by it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_COMM_TENSORNAMES_H
#define BRAID_DIALECTS_COMM_TENSORNAMES_H

#include "dialects/Comm/Comm.h"

namespace braid::comm {

inline constexpr llvm::StringLiteral kTensors = "comm.tensors";

/// What a collective carries; empty for nothing.
llvm::SmallVector<llvm::StringRef> tensorNamesOf(CollectiveOpInterface op);
void setTensorNames(CollectiveOpInterface op, llvm::ArrayRef<llvm::StringRef> names);

llvm::LogicalResult verifyTensorNames(mlir::Operation *op, mlir::Attribute attribute);

} // namespace braid::comm

#endif // BRAID_DIALECTS_COMM_TENSORNAMES_H
