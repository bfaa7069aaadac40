//===- Reshard.h - from one sharding to another -----------------*- C++ -*-===//
//
// Converts a tensor from one sharding to another in simple steps: partial values are
// combined (all_reduce), removed axes are gathered, and added axes take a rank's own
// block (slice, without communication).
//
// The order keeps tensors small, and places steps next to each other that comm-simplify
// can join. A slice comes as soon as its axes are free. A reduction or gather whose
// axes are needed elsewhere comes before one whose axes are not. So an axis that moves
// from dim 0 to dim 1 is gathered and sliced at once (an all_to_all), and a partial sum
// that becomes a sharded dim is reduced and sliced at once (a reduce_scatter).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SHARDING_RESHARD_H
#define BRAID_LIB_SHARDING_RESHARD_H

#include "dialects/Comm/Sharding.h"

namespace braid {

/// One op on a rank's part of a tensor.
struct ReshardStep {
  enum class Kind { AllReduce, AllGather, Slice };

  Kind kind;
  int64_t dim; ///< Dim of the part, or kFlat; 0 for all_reduce.
  comm::AxesAttr axes;
  comm::Reduction reduction; ///< Reduction of an all_reduce.
  mlir::RankedTensorType result;
};

/// Returns the steps from `from` to `to`, two valid shardings of a tensor of `type`.
/// Fails if values would have to become partial, or partial with another reduction.
mlir::FailureOr<llvm::SmallVector<ReshardStep>> reshardSteps(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                                                             mlir::RankedTensorType type, comm::ShardingAttr from,
                                                             comm::ShardingAttr to, const comm::Mesh &mesh);

} // namespace braid

#endif // BRAID_LIB_SHARDING_RESHARD_H
