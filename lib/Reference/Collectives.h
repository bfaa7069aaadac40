//===- Collectives.h - what each collective computes ------------*- C++ -*-===//
//
// All ranks of a group at once: what they sent goes in, what they receive comes
// out.  Reductions combine in the order of the group's ranks, in f64, and are
// rounded once, at the end: the result does not depend on who came first.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_REFERENCE_COLLECTIVES_H
#define BRAID_LIB_REFERENCE_COLLECTIVES_H

#include "dialects/Comm/Comm.h"
#include "lib/Reference/OpTable.h"

namespace braid::reference {

/// A rank at a collective.
struct Member {
  int64_t rank;
  mlir::Operation *op;
  llvm::ArrayRef<Tensor> sent;
};

/// For each member, what it receives.
using Received = llvm::SmallVector<llvm::SmallVector<Tensor>>;

/// Checks that the ops of all members say the same: attributes, number and types
/// of tensors.  The error names two ranks and what they disagree on.
mlir::LogicalResult checkAgreement(llvm::ArrayRef<Member> members);

/// Runs a collective; members are in the order of the group, or a sender and its
/// receiver.
Received communicate(llvm::ArrayRef<Member> members, Arithmetic arithmetic);

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_COLLECTIVES_H
