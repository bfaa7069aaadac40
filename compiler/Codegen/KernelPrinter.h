//===- KernelPrinter.h - one kernel as a C++ function -----------*- C++ -*-===//
#ifndef BRAID_COMPILER_CODEGEN_KERNELPRINTER_H
#define BRAID_COMPILER_CODEGEN_KERNELPRINTER_H

#include "compiler/Codegen/KernelEmitter.h"
#include "llvm/ADT/SmallBitVector.h"

namespace braid::codegen {

/// Returns the name of the C++ function of a kernel.
std::string kernelFunction(llvm::StringRef symbol);

/// Returns the function of an analysed kernel, with a comment that states its origin. Operands (ins, then outs) whose
/// bit in `aliased` is set may overlap another operand that is written; the others get `__restrict`.
mlir::FailureOr<std::string> printKernel(const KernelForm &kernel, const llvm::SmallBitVector &aliased,
                                         const KernelEmitter &emitter);

} // namespace braid::codegen

#endif // BRAID_COMPILER_CODEGEN_KERNELPRINTER_H
