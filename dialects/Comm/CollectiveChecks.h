//===- CollectiveChecks.h - what constraints have in common -----*- C++ -*-===//
//
// Checks that collectives share; each gives its error at the op.  What an op
// receives is called a result in messages: in memory it is written into outs.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_COMM_COLLECTIVECHECKS_H
#define BRAID_DIALECTS_COMM_COLLECTIVECHECKS_H

#include "dialects/Comm/Sharding.h"

namespace braid::comm {

using TensorTypes = llvm::ArrayRef<mlir::RankedTensorType>;

/// Result i has the type of operand i (all_reduce_c1).
llvm::LogicalResult verifySameTypes(CollectiveOpInterface op);

/// The kind can combine the elements of what is sent (all_reduce_c2).
llvm::LogicalResult verifyReducible(CollectiveOpInterface op);

/// `dims` has an entry for each tensor, which is a dim of it, or kFlat where that
/// is allowed (all_gather_c1).  `name` is what the dims and `what` what the
/// tensors are called.
llvm::LogicalResult verifyDims(CollectiveOpInterface op, llvm::ArrayRef<int64_t> dims, llvm::StringRef name,
                               TensorTypes types, llvm::StringRef what, bool mayBeFlat);

/// Block i is one of `ranks` of whole i along dims[i] (all_gather_c2), and they
/// have the same elements (all_gather_c3).  The dims are verified for one of both.
llvm::LogicalResult verifyBlocks(CollectiveOpInterface op, llvm::ArrayRef<int64_t> dims, TensorTypes blocks,
                                 llvm::StringRef blockName, TensorTypes wholes, llvm::StringRef wholeName,
                                 int64_t ranks);
/// The same where the wholes are on other ranks: flat blocks have one dim.
llvm::LogicalResult verifyFlatBlocks(CollectiveOpInterface op, llvm::ArrayRef<int64_t> dims, TensorTypes blocks,
                                     llvm::StringRef blockName);

/// `number`, called `what`, is a rank of the group.
llvm::LogicalResult verifyMember(CollectiveOpInterface op, const Mesh &mesh, llvm::StringRef what, int64_t number);

} // namespace braid::comm

#endif // BRAID_DIALECTS_COMM_COLLECTIVECHECKS_H
