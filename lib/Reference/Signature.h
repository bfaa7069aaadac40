//===- Signature.h - what functions and programs take and give --*- C++ -*-===//
#ifndef BRAID_LIB_REFERENCE_SIGNATURE_H
#define BRAID_LIB_REFERENCE_SIGNATURE_H

#include "lib/Reference/Program.h"

namespace braid::reference {

/// The inputs and results of one function or program, in the order in which its
/// process takes and gives them.
struct Signature {
  std::vector<InputSlot> inputs;
  std::vector<ResultSlot> results;
};

mlir::FailureOr<Signature> signatureOf(mlir::func::FuncOp function);
mlir::FailureOr<Signature> signatureOf(exec::ProgramOp program);

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_SIGNATURE_H
