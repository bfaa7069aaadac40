//===- Shards.h - logical tensors and the parts of ranks --------*- C++ -*-===//
//
// What goes into a local program and what comes out is logical: every rank is
// given its part of an input, and the parts of a result are put together.
// Wherever two ranks hold the same part they must agree in every bit; nothing in
// the interpreter depends on who came first, so any difference is one of the
// program.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_REFERENCE_SHARDS_H
#define BRAID_LIB_REFERENCE_SHARDS_H

#include "dialects/Comm/Mesh.h"
#include "lib/Reference/Blocks.h"
#include "llvm/Support/Error.h"

namespace braid::reference {

/// The part of a logical tensor that a rank holds.  Partial values differ from
/// rank to rank and combine to the tensor.
Tensor partOf(const Tensor &logical, comm::ShardingAttr sharding, const comm::Mesh &mesh, int64_t rank,
              Arithmetic arithmetic);

/// What a rank holds of a result.
struct Part {
  int64_t rank;
  comm::ShardingAttr sharding;
  Tensor tensor;
};

/// The logical tensor that has these parts; an error when replicas differ or a
/// part is missing.  `what` names the result in messages.
llvm::Expected<Tensor> joinParts(llvm::ArrayRef<Part> parts, mlir::RankedTensorType type, const comm::Mesh &mesh,
                                 const std::string &what, Arithmetic arithmetic);

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_SHARDS_H
