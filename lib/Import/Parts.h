//===- Parts.h - slices, elements at ends and between neighbors -*- C++ -*-===//
#ifndef BRAID_LIB_IMPORT_PARTS_H
#define BRAID_LIB_IMPORT_PARTS_H

#include "dialects/TG/TGBuilder.h"

namespace braid {

inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value a) { return tg::typeOf(a).getShape(); }

/// Returns a slice, or `a` if that is all of it.
mlir::Value sliced(tg::TensorBuilder &b, mlir::Value a, int64_t dim, int64_t offset, int64_t size, int64_t stride = 1);

/// Adds elements of a number at the ends of a dim, or removes them where the amounts are below 0. At least one element
/// must stay or be added.
mlir::Value padOrCut(tg::TensorBuilder &b, mlir::Value a, int64_t dim, int64_t low, int64_t high, double number);

/// Puts `amount` elements of a number between neighbors along a dim.
mlir::Value spread(tg::TensorBuilder &b, mlir::Value a, int64_t dim, int64_t amount, double number);

} // namespace braid

#endif // BRAID_LIB_IMPORT_PARTS_H
