//===- TensorNames.h - names of the tensors of a collective -----*- C++ -*-===//
//
// The discardable attribute `comm.tensors` of a collective, on values and in memory. It names each
// tensor that is sent: the graph's name of a parameter or state, or a description of a number.
//
//   comm.tensors = ["h.0.mlp.weight", "h.0.mlp.bias"]
//
// Reports print the names; no pass depends on them.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_COMM_TENSORNAMES_H
#define BRAID_DIALECTS_COMM_TENSORNAMES_H

#include "dialects/Comm/Comm.h"

namespace braid::comm {

inline constexpr llvm::StringLiteral kTensors = "comm.tensors";

/// Returns the names of the tensors that a collective sends; empty without the attribute.
llvm::SmallVector<llvm::StringRef> tensorNamesOf(CollectiveOpInterface op);
void setTensorNames(CollectiveOpInterface op, llvm::ArrayRef<llvm::StringRef> names);

llvm::LogicalResult verifyTensorNames(mlir::Operation *op, mlir::Attribute attribute);

} // namespace braid::comm

#endif // BRAID_DIALECTS_COMM_TENSORNAMES_H
