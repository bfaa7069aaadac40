//===- KernelSpace.h - iteration spaces of two kernels made one -*- C++ -*-===//
//
// [B*S, D] and [B, S, D] are one space split differently.  Their common refinement
// has the splits of both; a kernel is moved into it by splitting its loops, and its
// operands and results become views.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_LOWER_KERNELSPACE_H
#define BRAID_PASSES_LOWER_KERNELSPACE_H

#include "dialects/Exec/KernelBody.h"
#include <optional>

namespace braid {

/// For each dim of a space, the dims of the refined space it is split into, major
/// to minor; none for a dim of size 1.
using DimSplits = llvm::SmallVector<llvm::SmallVector<int64_t, 2>>;

struct CommonSpace {
  llvm::SmallVector<int64_t> space;
  DimSplits first, second;
};

/// The refinement of two spaces of equal size; or of one kernel's space and the
/// rows of the other, when the former reduces nothing.  Lanes that a kernel
/// reduces, or keeps beside reduced rows, stay whole.
std::optional<CommonSpace> commonSpace(exec::KernelOp first, exec::KernelOp second);

/// The dims that index an operand of a kernel, if all reads agree.
std::optional<llvm::SmallVector<int64_t>> operandDimsOf(exec::KernelOp kernel, unsigned operand);

/// The dims that index a result of a kernel; none for a sum over rows, which
/// cannot be read inside.
std::optional<llvm::SmallVector<int64_t>> resultDimsOf(exec::KernelOp kernel, unsigned result);

/// These dims in the refined space.
llvm::SmallVector<int64_t> splitDims(llvm::ArrayRef<int64_t> dims, const DimSplits &splits);

/// The number of leading dims left parallel by sums over rows; -1 without any.
int64_t blockDimsOf(exec::KernelOp kernel);

/// True if an op other than `reader` reads `value`, also through views.
bool isReadElsewhere(mlir::Value value, mlir::Operation *reader);

/// True if every operand is read in one way, so that `moveToSpace` can split it.
bool isSplittable(exec::KernelOp kernel);

/// The kernel in the refined space: itself, or what replaced it.
exec::KernelOp moveToSpace(exec::KernelOp kernel, llvm::ArrayRef<int64_t> space, const DimSplits &splits);

} // namespace braid

#endif // BRAID_PASSES_LOWER_KERNELSPACE_H
