//===- KernelBody.h - running the generics of a kernel ----------*- C++ -*-===//
#ifndef BRAID_LIB_REFERENCE_KERNELBODY_H
#define BRAID_LIB_REFERENCE_KERNELBODY_H

#include "lib/Reference/OpTable.h"
#include "mlir/IR/Block.h"

namespace braid::reference {

/// Runs the body of an exec.kernel or exec.kernel_def and returns what it
/// yields.  `flatLength` is the length that dim 0 of `tensor<1x…>` stands for in a flat
/// kernel; 0 for a kernel that is not flat.
Results runKernelBody(mlir::Block &body, llvm::ArrayRef<const Tensor *> arguments, int64_t flatLength,
                      Arithmetic arithmetic);

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_KERNELBODY_H
