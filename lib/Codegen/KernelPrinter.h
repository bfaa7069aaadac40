//===- KernelPrinter.h - one kernel as a C++ function -----------*- C++ -*-===//
#ifndef BRAID_LIB_CODEGEN_KERNELPRINTER_H
#define BRAID_LIB_CODEGEN_KERNELPRINTER_H

#include "lib/Codegen/KernelEmitter.h"
#include "llvm/ADT/SmallBitVector.h"

namespace braid::codegen {

/// The function's name for a kernel.
std::string kernelFunction(llvm::StringRef symbol);

/// The function of an analysed kernel, with a comment that says where it came
/// from.  Operands (ins, then outs) whose bit in `aliased` is set may overlap
/// another one that is written; the others get `__restrict`.
mlir::FailureOr<std::string> printKernel(const KernelForm &kernel, const llvm::SmallBitVector &aliased,
                                         const KernelEmitter &emitter);

} // namespace braid::codegen

#endif // BRAID_LIB_CODEGEN_KERNELPRINTER_H
