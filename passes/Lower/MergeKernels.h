//===- MergeKernels.h - two kernels of one space become one ------*- C++ -*-===//
#ifndef BRAID_PASSES_LOWER_MERGEKERNELS_H
#define BRAID_PASSES_LOWER_MERGEKERNELS_H

#include "dialects/Exec/Exec.h"

namespace braid {

/// True if two operands are the same tensor at the same coordinates.
bool isSameRead(mlir::Value a, mlir::Value b);

/// If `operand` is, whole and in order, a result of `kernel`: its number.
std::optional<unsigned> resultRead(mlir::Value operand, exec::KernelOp kernel);

/// Moves the bodies of two kernels of one space into a new kernel.  What the
/// second reads of the first becomes a value inside, and a result only if
/// something else reads it.  Its location
/// is the first's: the caller knows when the last kernel has been merged.  The old
/// kernels are read by nothing but each other and views that nothing reads.
exec::KernelOp mergeKernels(exec::KernelOp first, exec::KernelOp second);

} // namespace braid

#endif // BRAID_PASSES_LOWER_MERGEKERNELS_H
