//===- KernelBody.h - execution of the generics of a kernel -----*- C++ -*-===//
#ifndef BRAID_LIB_REFERENCE_KERNELBODY_H
#define BRAID_LIB_REFERENCE_KERNELBODY_H

#include "lib/Reference/OpTable.h"
#include "mlir/IR/Block.h"

namespace braid::reference {

/// Runs the body of an exec.kernel or exec.kernel_def; returns the values that it yields. In
/// a flat kernel, `flatLength` is the length of dim 0 of `tensor<1x…>`; 0 for other kernels.
Results runKernelBody(mlir::Block &body, llvm::ArrayRef<const Tensor *> arguments, int64_t flatLength,
                      Arithmetic arithmetic);

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_KERNELBODY_H
