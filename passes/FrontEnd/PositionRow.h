//===- PositionRow.h - one position of a sequence ---------------*- C++ -*-===//
//
// `generate` picks the hidden row of one position before the head. A program that computes only this position does not
// need to pick a row, and must recognise such ops.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_FRONTEND_POSITIONROW_H
#define BRAID_PASSES_FRONTEND_POSITIONROW_H

#include "dialects/TG/TGBuilder.h"

namespace braid {

/// Returns row `position` of a tensor whose leading dims have `rows` rows in total. The result has the shape of
/// `tensor` with all leading dims 1.
mlir::Value extractRow(tg::TensorBuilder &b, mlir::Value tensor, unsigned leading, int64_t rows, mlir::Value position);

/// Returns the tensor, rows first, from which `op` picks row `position`, or null if `op` picks no such row.
mlir::Value extractedFrom(mlir::Operation *op, mlir::Value position);

} // namespace braid

#endif // BRAID_PASSES_FRONTEND_POSITIONROW_H
