//===- Blocks.h - splitting and joining of tensors --------------*- C++ -*-===//
//
// A part of a tensor is described by the place of each of its elements in the whole; -1
// means padding.  Collectives, slices and shardings all split and join by such lists.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_REFERENCE_BLOCKS_H
#define BRAID_LIB_REFERENCE_BLOCKS_H

#include "dialects/Comm/Comm.h"
#include "lib/Reference/Tensor.h"

namespace braid::reference {

/// Place in the whole of each element of a part.
using Places = std::vector<int64_t>;

/// Returns the shape of one of `n` blocks along a dim, or of the flat order.
Index blockShape(llvm::ArrayRef<int64_t> shape, int64_t dim, int64_t n);
/// Returns the places of block `i` of `n`.
Places placesOfBlock(llvm::ArrayRef<int64_t> shape, int64_t dim, int64_t n, int64_t i);

/// Returns block `i` of `n`; padding is zero.
Tensor blockOf(const Tensor &whole, int64_t dim, int64_t n, int64_t i);
/// Joins blocks in this order; drops padding.
Tensor joinBlocks(llvm::ArrayRef<const Tensor *> blocks, int64_t dim, llvm::ArrayRef<int64_t> shape);

/// Combines tensors element by element, from the first to the last, in f64; the result is not rounded.
Tensor combine(comm::Reduction kind, llvm::ArrayRef<const Tensor *> tensors);

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_BLOCKS_H
