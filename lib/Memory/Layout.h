//===- Layout.h - strided layouts and views of them -------------*- C++ -*-===//
//
// A layout maps the elements of a tensor to a buffer.  An `exec.view` gives its
// elements as positions in the row-major order of its source.
//
//   composeView  the layout of a view, given the layout of its source
//   invertView   the layout of the source, given the layout of the view
//
// If there is no such layout, the caller inserts a copy.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MEMORY_LAYOUT_H
#define BRAID_LIB_MEMORY_LAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace braid {

/// Element (i0, i1, …) is at offset + Σ i_d strides[d], in elements.
struct Layout {
  int64_t offset = 0;
  llvm::SmallVector<int64_t> strides;

  static Layout contiguous(llvm::ArrayRef<int64_t> shape);
  /// Returns whether the elements fill a range in row-major order.
  bool isContiguous(llvm::ArrayRef<int64_t> shape) const;
};

std::optional<Layout> composeView(llvm::ArrayRef<int64_t> sourceShape, const Layout &source,
                                  llvm::ArrayRef<int64_t> viewShape, int64_t viewOffset,
                                  llvm::ArrayRef<int64_t> viewStrides);

/// Also no value if the view does not have every element of its source exactly once.
std::optional<Layout> invertView(llvm::ArrayRef<int64_t> sourceShape, llvm::ArrayRef<int64_t> viewShape,
                                 int64_t viewOffset, llvm::ArrayRef<int64_t> viewStrides, const Layout &view);

} // namespace braid

#endif // BRAID_LIB_MEMORY_LAYOUT_H
