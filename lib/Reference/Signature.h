//===- Signature.h - inputs and results of programs -------------*- C++ -*-===//
#ifndef BRAID_LIB_REFERENCE_SIGNATURE_H
#define BRAID_LIB_REFERENCE_SIGNATURE_H

#include "lib/Reference/Program.h"

namespace braid::reference {

/// Inputs and results of one function or program, in the order of its process.
struct Signature {
  std::vector<InputSlot> inputs;
  std::vector<ResultSlot> results;
};

mlir::FailureOr<Signature> signatureOf(mlir::func::FuncOp function);
mlir::FailureOr<Signature> signatureOf(exec::ProgramOp program);

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_SIGNATURE_H
