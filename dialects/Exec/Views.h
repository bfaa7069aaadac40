//===- Views.h - coordinates of views ---------------------------*- C++ -*-===//
//
// A view maps its elements to the row-major order of its source. Two nested views are one view
// if every step of the outer one is a constant number of elements of the innermost source.
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

/// Returns the row-major strides of a shape.
llvm::SmallVector<int64_t> rowMajor(llvm::ArrayRef<int64_t> shape);

/// Returns the coordinates of `outer` in the source of `inner`. `outer`, of shape
/// `outerShape`, views a tensor of shape `innerShape` that is itself the view `inner`.
std::optional<ViewCoordinates> composeViews(llvm::ArrayRef<int64_t> innerShape, const ViewCoordinates &inner,
                                            llvm::ArrayRef<int64_t> outerShape, const ViewCoordinates &outer);

/// Returns the layout of a tensor value in memory: the strides of a view, else contiguous.
RefType layoutOf(mlir::Value value);

/// Returns whether the view has all elements of its source in the same order.
bool isReshape(ViewOp view);

} // namespace braid::exec

#endif // BRAID_DIALECTS_EXEC_VIEWS_H
