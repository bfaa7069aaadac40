//===- TensorShape.h - supported tensor shapes ------------------*- C++ -*-===//
//
// Every level computes with extents and with products of extents: it divides shapes by them, and
// counts elements, bytes and operations in 64 bits. So the ops of every dialect (Tensors.td), the
// arguments of functions and the input graph accept only tensors for which this arithmetic is safe.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_INTERFACES_TENSORSHAPE_H
#define BRAID_DIALECTS_INTERFACES_TENSORSHAPE_H

#include "mlir/IR/BuiltinTypes.h"
#include <string>

namespace braid {

/// Upper limit of elements in a tensor: 2^53, which is 64 PiB of f64. The sum of the
/// bytes of 64 such tensors still fits in 64 bits; code that adds up more checks the sum.
inline constexpr int64_t kMaxElements = int64_t(1) << 53;

/// Returns whether the extents are static, at least 1, and give at most kMaxElements.
bool hasSupportedShape(llvm::ArrayRef<int64_t> shape);
bool hasSupportedShape(mlir::Type type);

/// Returns the fault of a tensor's shape, or of another type, as text that follows the type in a message. Empty for a
/// supported shape.
std::string problemOfShape(mlir::Type type);

} // namespace braid

#endif // BRAID_DIALECTS_INTERFACES_TENSORSHAPE_H
