//===- KernelSpace.h - common iteration space of two kernels ----*- C++ -*-===//
//
// [B*S, D] and [B, S, D] are one space with different splits. Their common refinement has the splits of both. A kernel
// moves into it by splitting its loops; its operands and results become views.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_KERNELS_KERNELSPACE_H
#define BRAID_PASSES_KERNELS_KERNELSPACE_H

#include "dialects/Exec/KernelBody.h"
#include <optional>

namespace braid {

/// For each dim of a space, the dims of the refined space that it is split into, major to minor; none for a dim of
/// size 1.
using DimSplits = llvm::SmallVector<llvm::SmallVector<int64_t, 2>>;

struct CommonSpace {
  llvm::SmallVector<int64_t> space;
  DimSplits first, second;
};

/// Returns the refinement of two spaces of equal size. Also refines one kernel's space and the other's rows, if the
/// first kernel reduces nothing. Lanes that a kernel reduces, or keeps beside reduced rows, stay whole.
std::optional<CommonSpace> commonSpace(exec::KernelOp first, exec::KernelOp second);

/// Returns the dims that index an operand of a kernel, if all reads agree.
std::optional<llvm::SmallVector<int64_t>> operandDimsOf(exec::KernelOp kernel, unsigned operand);

/// Returns the dims that index a result of a kernel. Returns nothing for a sum over rows, which cannot be read inside.
std::optional<llvm::SmallVector<int64_t>> resultDimsOf(exec::KernelOp kernel, unsigned result);

/// Returns the dims of the refined space for these dims.
llvm::SmallVector<int64_t> splitDims(llvm::ArrayRef<int64_t> dims, const DimSplits &splits);

/// Returns the number of leading dims that sums over rows leave parallel; -1 without such sums.
int64_t blockDimsOf(exec::KernelOp kernel);

/// Whether an op other than `reader` reads `value`, also through views.
bool isReadElsewhere(mlir::Value value, mlir::Operation *reader);

/// Whether all reads of every operand agree, so that `moveToSpace` can split it.
bool isSplittable(exec::KernelOp kernel);

/// Moves a kernel into the refined space; returns the kernel or its replacement.
exec::KernelOp moveToSpace(exec::KernelOp kernel, llvm::ArrayRef<int64_t> space, const DimSplits &splits);

} // namespace braid

#endif // BRAID_PASSES_KERNELS_KERNELSPACE_H
