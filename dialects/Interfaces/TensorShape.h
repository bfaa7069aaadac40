//===- TensorShape.h - which tensors there can be ---------------*- C++ -*-===//
//
// Every level computes with extents and with products of extents: they divide shapes by
// them, and count elements, bytes and operations in 64 bits.  So the ops of every dialect
// take only tensors for which that is safe (Tensors.td), and so do arguments of functions
// and the graph that is read.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_INTERFACES_TENSORSHAPE_H
#define BRAID_DIALECTS_INTERFACES_TENSORSHAPE_H

#include "mlir/IR/BuiltinTypes.h"
#include <string>

namespace braid {

/// The most elements a tensor may have: 2^53, which is 64 PiB of f64.  A sum of the bytes
/// of 64 such tensors still fits; whoever adds up more checks the sum.
inline constexpr int64_t kMaxElements = int64_t(1) << 53;

/// Whether the extents are static and 1 or more, and give at most kMaxElements.
bool hasSupportedShape(llvm::ArrayRef<int64_t> shape);
bool hasSupportedShape(mlir::Type type);

/// What is wrong with the shape of a tensor (or with a type that is none), as what
/// follows the type in a message; empty for a supported one.
std::string problemOfShape(mlir::Type type);

} // namespace braid

#endif // BRAID_DIALECTS_INTERFACES_TENSORSHAPE_H
