//===- Indices.h - elements at computed positions ---------------*- C++ -*-===//
//
// PyTorch raises an error where an index is outside of its tensor. A step has no exceptions: an index that is computed
// is moved into the tensor, and what it reads or writes becomes NaN if it was outside. So the loss is NaN, and no other
// memory is touched. Indices that are provably inside, and those that are an input and checked when data are read, need
// nothing.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_IMPORT_TORCH_INDICES_H
#define BRAID_LIB_IMPORT_TORCH_INDICES_H

#include "lib/Import/Torch/Translator.h"

namespace braid::torch {

/// The least and the greatest number that an integer tensor may have.
struct Interval {
  int64_t low = INT32_MIN, high = INT32_MAX;
};
Interval intervalOf(mlir::Value integers);
/// Whether a sum, difference or product of integers may need more than 32 bits where inputs are below 2^21 in
/// magnitude, as class numbers are.
bool mayWrap(mlir::Value result);

/// Whether indices are provably in [0, size) or `ignored`, or only move an input that is checked when data are read.
bool isWithin(mlir::Value indices, int64_t size, std::optional<int64_t> ignored = std::nullopt);

/// Indices in [0, size), and where they were so before; `isInside` is null if all are.
struct BoundedIndex {
  mlir::Value index, isInside;
};
/// Bounds indices. `allowsNegative` counts indices below 0 from the end; `trustsInputs` leaves out inputs, which are
/// checked when data are read.
BoundedIndex bounded(tg::TensorBuilder &b, mlir::Value indices, int64_t size, bool allowsNegative,
                     bool trustsInputs = true);
/// Returns where indices are in [0, size), or null if they provably are everywhere.
mlir::Value areInside(tg::TensorBuilder &b, mlir::Value indices, int64_t size);
/// Replaces elements by NaN where a condition on their leading dims does not hold; a null condition holds everywhere.
mlir::Value orNan(tg::TensorBuilder &b, mlir::Value value, mlir::Value isInside);

/// Rows of a table, a tensor with at least one dim, by index. Returns null after an error.
mlir::Value rowsAt(CallBuilder &call, mlir::Value table, mlir::Value indices, bool allowsNegative);
mlir::Value rowsAt(CallBuilder &call, mlir::Value table, BoundedIndex index);

/// Returns indices, those below 0 with `size` added.
mlir::Value countedFromEnd(tg::TensorBuilder &b, mlir::Value indices, mlir::Value size);
mlir::Value negated(tg::TensorBuilder &b, mlir::Value condition);
/// Whether a condition holds anywhere along some dims.
mlir::Value anyOf(tg::TensorBuilder &b, mlir::Value condition, llvm::ArrayRef<int64_t> dims);

/// Exchanges a dim with the last one.
mlir::Value swapLast(CallBuilder &call, mlir::Value a, int64_t dim);
/// Moves a dim to another place; the others keep their order.
mlir::Value moveDim(CallBuilder &call, mlir::Value a, int64_t from, int64_t to);
/// 1 where an index is the lane's number: indices in front, lanes last.
mlir::Value lanesOf(CallBuilder &call, mlir::Value indices, int64_t lanes);

} // namespace braid::torch

#endif // BRAID_LIB_IMPORT_TORCH_INDICES_H
