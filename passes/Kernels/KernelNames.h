//===- KernelNames.h - names of kernels -------------------------*- C++ -*-===//
//
// A kernel is named after its graph ops: the composite that an op came from (tg-decompose keeps it in the location),
// else the op itself. A definition whose words are all arithmetic is named after its first named result: `loss` for
// what would be `subf_mulf_reduce`. The name never contains the layer, because equal kernels of several layers are
// shared.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_KERNELS_KERNELNAMES_H
#define BRAID_PASSES_KERNELS_KERNELNAMES_H

#include "dialects/Exec/Exec.h"
#include <string>

namespace braid {

/// `layer_norm` for a part of tg.layer_norm, `mulf` for a lone arith.mulf.
std::string kernelNameOf(mlir::Operation *op);

/// Returns the words of two merged kernels, at most three, with `__` between them. Arithmetic words are dropped next
/// to the composites they were fused with.
std::string fusedName(llvm::StringRef first, llvm::StringRef second, mlir::MLIRContext *context);

/// Returns the name of a kernel's definition, without the number that makes it unique.
std::string definitionName(exec::KernelOp kernel);

} // namespace braid

#endif // BRAID_PASSES_KERNELS_KERNELNAMES_H
