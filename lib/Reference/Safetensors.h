//===- Safetensors.h - tensors in files -------------------------*- C++ -*-===//
//
// Hugging Face's format: eight bytes with the length of the header, a JSON header that
// gives each tensor's type, shape and byte range, then the bytes.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_REFERENCE_SAFETENSORS_H
#define BRAID_LIB_REFERENCE_SAFETENSORS_H

#include "lib/Reference/Program.h"
#include "llvm/Support/Error.h"

namespace braid::reference {

llvm::Expected<Values> readSafetensors(llvm::StringRef path, mlir::MLIRContext *context);
llvm::Error writeSafetensors(llvm::StringRef path, const Values &tensors);

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_SAFETENSORS_H
