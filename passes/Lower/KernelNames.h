//===- KernelNames.h - names of kernels -------------------------*- C++ -*-===//
//
// A kernel is named after its graph ops: the composite that an op came from (tg-decompose keeps it in the location),
// else the op itself. The name never contains the layer, because equal kernels of several layers are shared.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_LOWER_KERNELNAMES_H
#define BRAID_PASSES_LOWER_KERNELNAMES_H

#include "mlir/IR/Operation.h"
#include <string>

namespace braid {

/// `layer_norm` for a part of tg.layer_norm, `mulf` for a lone arith.mulf.
std::string kernelNameOf(mlir::Operation *op);

/// Returns the name of two merged kernels, at most a few words.
std::string fusedName(llvm::StringRef first, llvm::StringRef second);

} // namespace braid

#endif // BRAID_PASSES_LOWER_KERNELNAMES_H
