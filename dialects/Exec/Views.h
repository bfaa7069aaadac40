//===- Views.h - coordinates of views ---------------------------*- C++ -*-===//
//
// A view says where its elements are in the row-major order of its source.  Two
// views on top of each other are one view when every step of the outer one is a
// constant number of elements of the innermost source.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_EXEC_VIEWS_H
#define BRAID_DIALECTS_EXEC_VIEWS_H

#include "dialects/Exec/Exec.h"
#include <optional>

namespace braid::exec {

struct ViewCoordinates {
  int64_t offset = 0;
  llvm::SmallVector<int64_t> strides;
};

/// Row-major strides of a shape.
llvm::SmallVector<int64_t> rowMajor(llvm::ArrayRef<int64_t> shape);

/// The coordinates of `outer` (of shape `outerShape`), a view of the tensor of
/// shape `innerShape` that is itself the view `inner`, in `inner`'s source.
std::optional<ViewCoordinates> composeViews(llvm::ArrayRef<int64_t> innerShape, const ViewCoordinates &inner,
                                            llvm::ArrayRef<int64_t> outerShape, const ViewCoordinates &outer);

/// The layout a tensor value would have in memory: a view's strides, or
/// contiguous.
RefType layoutOf(mlir::Value value);

/// True if the view holds all elements of its source in the same order.
bool isReshape(ViewOp view);

} // namespace braid::exec

#endif // BRAID_DIALECTS_EXEC_VIEWS_H
