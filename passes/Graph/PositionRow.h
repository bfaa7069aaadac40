//===- PositionRow.h - one position of a sequence ---------------*- C++ -*-===//
//
// `generate` picks the hidden row of one position before the head.  A program that computes
// this position alone has nothing to pick, and must know such a row when it sees it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_GRAPH_POSITIONROW_H
#define BRAID_PASSES_GRAPH_POSITIONROW_H

#include "dialects/TG/TGBuilder.h"

namespace braid {

/// Row `position` of a tensor whose leading dims have `rows` rows: 1 x what the
/// other dims have, in the shape of `tensor` with all leading dims 1.
mlir::Value pickRow(tg::TensorBuilder &b, mlir::Value tensor, unsigned leading, int64_t rows, mlir::Value position);

/// The tensor, rows first, whose row `position` the result of `op` is; null if it is no such row.
mlir::Value pickedFrom(mlir::Operation *op, mlir::Value position);

} // namespace braid

#endif // BRAID_PASSES_GRAPH_POSITIONROW_H
