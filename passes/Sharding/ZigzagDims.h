//===- ZigzagDims.h - which dims a function has in zigzag -------*- C++ -*-===//
#ifndef BRAID_PASSES_SHARDING_ZIGZAGDIMS_H
#define BRAID_PASSES_SHARDING_ZIGZAGDIMS_H

#include "lib/Sharding/FactorAxes.h"
#include "lib/Sharding/Reshard.h"
#include "lib/Sharding/TokenDims.h"
#include "lib/Sharding/Zigzag.h"

namespace braid {

/// The dims of a global function that its ranks share out in zigzag: those of positions that are sharded over its
/// axis.  All dims of a factor are.  None in a module that does not say `comm.zigzag`.
class ZigzagDims {
public:
  static mlir::FailureOr<ZigzagDims> of(mlir::func::FuncOp function, const comm::Mesh &mesh);

  /// An error where a dim of a value with this sharding cannot be shared out.
  llvm::LogicalResult verify(llvm::function_ref<mlir::InFlightDiagnostic()> emitError, mlir::Value value,
                             comm::ShardingAttr sharding, const comm::Mesh &mesh) const;

  /// The factor of an op that is in zigzag.
  std::optional<unsigned> factorOf(mlir::Operation *op, const ShardingRule &rule, const FactorAxes &axes) const;

  /// The sharding of an argument or result: a rank has the whole of dims that are in zigzag otherwise, because who
  /// calls its program knows blocks in order alone.
  comm::ShardingAttr atBoundary(mlir::Value value, comm::ShardingAttr sharding) const;

  /// The blocks in which a step takes or leaves a dim of `value`; empty where they are in order.
  llvm::SmallVector<int64_t> orderOf(mlir::Value value, const ReshardStep &step, const comm::Mesh &mesh) const;

  /// Where there is one.
  const Zigzag &order() const { return *zigzag; }

private:
  bool contains(mlir::Value value, int64_t dim, comm::AxesAttr axes) const {
    return zigzag && zigzag->shards(axes) && tokens->kindOf(value, dim) == TokenDims::Kind::Sequence;
  }

  std::optional<Zigzag> zigzag;
  std::optional<TokenDims> tokens;
};

} // namespace braid

#endif // BRAID_PASSES_SHARDING_ZIGZAGDIMS_H
