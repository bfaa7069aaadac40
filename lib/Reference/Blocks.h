//===- Blocks.h - splitting tensors and joining them ------------*- C++ -*-===//
//
// A part of a tensor is described by the place that each of its elements has in
// the whole; -1 stands for padding.  Collectives, slices and shardings all split
// and join by such lists.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_REFERENCE_BLOCKS_H
#define BRAID_LIB_REFERENCE_BLOCKS_H

#include "dialects/Comm/Comm.h"
#include "lib/Reference/Tensor.h"

namespace braid::reference {

/// The place in a whole for each element of a part.
using Places = std::vector<int64_t>;

/// The shape of one of `n` blocks along a dim, or in the flat order.
Index blockShape(llvm::ArrayRef<int64_t> shape, int64_t dim, int64_t n);
/// The places of block `i` of `n`.
Places placesOfBlock(llvm::ArrayRef<int64_t> shape, int64_t dim, int64_t n, int64_t i);

/// Block `i` of `n`; padding is zero.
Tensor blockOf(const Tensor &whole, int64_t dim, int64_t n, int64_t i);
/// The whole that has these blocks, in this order; padding is dropped.
Tensor joinBlocks(llvm::ArrayRef<const Tensor *> blocks, int64_t dim, llvm::ArrayRef<int64_t> shape);

/// Combines tensors element by element, from the first to the last, in f64; the
/// result is not rounded.
Tensor combine(comm::Reduction kind, llvm::ArrayRef<const Tensor *> tensors);

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_BLOCKS_H
