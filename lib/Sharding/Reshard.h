//===- Reshard.h - from one sharding to another -----------------*- C++ -*-===//
//
// A tensor that ranks hold in one way is brought into another by plain steps:
// partial values are combined (all_reduce), axes that go are gathered, axes that
// come are a rank's own block (slice, without communication).
//
// The order keeps tensors small and puts beside each other what comm-simplify
// joins: a slice comes as soon as its axes are free, a reduction or gather whose
// axes are wanted elsewhere before one whose axes are not.  So an axis that moves
// from dim 0 to dim 1 is gathered and sliced at once (an all_to_all), and a
// partial sum that becomes a sharded dim is reduced and sliced at once (a
// reduce_scatter).
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
  int64_t dim; ///< Of the part, or kFlat; 0 for all_reduce.
  comm::AxesAttr axes;
  comm::Reduction reduction; ///< Of all_reduce.
  mlir::RankedTensorType result;
};

/// The steps from `from` to `to`, both valid shardings of a tensor of `type`.  An
/// error when values would have to become partial, or partial in another way.
mlir::FailureOr<llvm::SmallVector<ReshardStep>> reshardSteps(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                                                             mlir::RankedTensorType type, comm::ShardingAttr from,
                                                             comm::ShardingAttr to, const comm::Mesh &mesh);

} // namespace braid

#endif // BRAID_LIB_SHARDING_RESHARD_H
