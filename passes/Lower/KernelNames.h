//===- KernelNames.h - what a kernel is called ------------------*- C++ -*-===//
//
// A kernel is named by the graph ops it holds: the composite an op was part of
// (kept in its location by tg-decompose), else the op itself.  Never by the layer: equal
// kernels of several layers are one.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_LOWER_KERNELNAMES_H
#define BRAID_PASSES_LOWER_KERNELNAMES_H

#include "mlir/IR/Operation.h"
#include <string>

namespace braid {

/// `layer_norm` for a part of tg.layer_norm, `mulf` for a lone arith.mulf.
std::string kernelNameOf(mlir::Operation *op);

/// The name of a kernel that holds two others, of at most a few words.
std::string fusedName(llvm::StringRef first, llvm::StringRef second);

} // namespace braid

#endif // BRAID_PASSES_LOWER_KERNELNAMES_H
