//===- LeadingDimPadding.h - pads rows to aligned addresses -----*- C++ -*-===//
//
// The bf16 logits of a vocabulary of 50257 are rows of 100514 bytes.  In a contiguous tensor
// most rows begin at addresses from which a GPU can load only one element at a time, and for
// which GEMM libraries have only slow kernels.  *Leading-dimension padding* makes the leading
// dimension (the distance between rows) larger than a row: each row begins at a multiple of
// the target's row alignment, and nothing reads or writes the padding between rows.
//
// A value is padded if the padding is small and if all actions that write or read the value
// process its rows one by one (`readsRows`).  Padding never causes a copy and never prevents a
// result from overwriting an operand: either both have the same padding, or neither has any.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MEMORY_LEADINGDIMPADDING_H
#define BRAID_LIB_MEMORY_LEADINGDIMPADDING_H

#include "lib/Memory/Layout.h"
#include "lib/Target/TargetInfo.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Value.h"

namespace braid {

/// Widest access of a thread, in bytes. Rows that begin at multiples of it need no
/// padding, and no row alignment is smaller.
constexpr int64_t kMinRowAlignment = 16;

/// Returns whether rows can be padded to multiples of `bytes`; 0 means no padding.
bool canAlignRows(int64_t bytes, const TargetInfo &target);
/// Returns the row alignment that the pass option `requested` selects: 0 for no padding, -1
/// for the target's. Fails on an alignment that rows cannot have.
mlir::FailureOr<int64_t> rowAlignmentOf(int64_t requested, const TargetInfo &target, mlir::Location loc);

/// Returns the layout with padded rows. No value if the rows are aligned without
/// padding, or if at every alignment the padding would exceed a sixteenth of the rows.
std::optional<Layout> paddedLayout(mlir::RankedTensorType type, int64_t rowAlignment);

/// Returns the bytes of padding, including the padding after the last row.
int64_t paddingBytes(mlir::RankedTensorType type, const Layout &layout);

/// Returns whether the action that writes `value`, and all actions that read it or a
/// view of it, accept this layout with padded rows.
bool acceptsPaddedRows(mlir::OpResult value, const Layout &layout);

} // namespace braid

#endif // BRAID_LIB_MEMORY_LEADINGDIMPADDING_H
