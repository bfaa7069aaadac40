//===- RowPitch.h - rows that begin at aligned addresses --------*- C++ -*-===//
//
// The logits of 50257 words are rows of 100514 bytes.  Laid end to end, most begin
// where a GPU can read but one number at a time, and where GEMM libraries have slow
// kernels only.  A *pitch* sets rows apart: each begins at a multiple of the target's
// row alignment, and the bytes in the gaps are never read or written.
//
// A pitch is given where it costs little memory and all who make and read the value go
// through its rows one by one (`readsRows`).  It never costs a copy or a place: what
// could be written over an operand still is, with the same gaps or with none.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MEMORY_ROWPITCH_H
#define BRAID_LIB_MEMORY_ROWPITCH_H

#include "lib/Memory/Layout.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace braid {

/// What a thread accesses at once: rows that begin at its multiples need no pitch, and
/// no row alignment is less.
constexpr int64_t kLeastRowAlignment = 16;

/// The layout with a pitch; none where rows are aligned as they are, and where the gaps
/// would be more than a sixteenth of them at any alignment.
std::optional<Layout> layoutWithPitch(mlir::RankedTensorType type, int64_t rowAlignment);

/// The bytes of the gaps, the one behind the last row too.
int64_t gapBytes(mlir::RankedTensorType type, const Layout &layout);

/// Whether the action that makes `value` and all that read it or a view of it take this
/// layout with gaps between the rows.
bool takesPitch(mlir::OpResult value, const Layout &layout);

} // namespace braid

#endif // BRAID_LIB_MEMORY_ROWPITCH_H
