//===- Collectives.h - results of collectives -------------------*- C++ -*-===//
//
// Computes all ranks of a group at once: from the tensors that they send to the tensors that
// they receive.  Reductions combine in the order of the group's ranks, in f64, and are
// rounded once at the end, so the result does not depend on the order in which ranks arrive.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_REFERENCE_COLLECTIVES_H
#define BRAID_LIB_REFERENCE_COLLECTIVES_H

#include "dialects/Comm/Comm.h"
#include "lib/Reference/OpTable.h"

namespace braid::reference {

/// A rank that takes part in a collective.
struct Member {
  int64_t rank;
  mlir::Operation *op;
  llvm::ArrayRef<Tensor> sent;
};

/// Received tensors of each member.
using Received = llvm::SmallVector<llvm::SmallVector<Tensor>>;

/// Checks that the ops of all members agree in attributes, number and types of tensors.
/// The error names two ranks and the difference.
mlir::LogicalResult checkAgreement(llvm::ArrayRef<Member> members);

/// Runs a collective; members are in the order of the group, or a sender and its receiver.
Received communicate(llvm::ArrayRef<Member> members, Arithmetic arithmetic);

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_COLLECTIVES_H
