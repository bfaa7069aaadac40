//===- ZigzagDims.h - dims of a function in zigzag --------------*- C++ -*-===//
#ifndef BRAID_PASSES_SHARDING_ZIGZAGDIMS_H
#define BRAID_PASSES_SHARDING_ZIGZAGDIMS_H

#include "lib/Sharding/DimFlow.h"
#include "lib/Sharding/FactorAxes.h"
#include "lib/Sharding/Reshard.h"
#include "lib/Sharding/TokenDims.h"
#include "lib/Sharding/Zigzag.h"

namespace braid {

/// The dims of a global function that its ranks shard in zigzag: dims of positions that are sharded over its axis.
/// Either all dims of a factor are in zigzag or none. There are none in a module without `comm.zigzag`.
class ZigzagDims {
public:
  static mlir::FailureOr<ZigzagDims> of(mlir::func::FuncOp function, const comm::Mesh &mesh);

  /// Emits an error if a dim of a value with this sharding cannot be sharded in zigzag.
  llvm::LogicalResult verify(llvm::function_ref<mlir::InFlightDiagnostic()> emitError, mlir::Value value,
                             comm::ShardingAttr sharding, const comm::Mesh &mesh) const;

  /// Returns the factor of an op that is in zigzag.
  std::optional<unsigned> factorOf(mlir::Operation *op, const ShardingRule &rule, const FactorAxes &axes) const;

  /// Returns the sharding of an argument or result. A rank has the whole of zigzag dims that are sharded otherwise,
  /// because callers of its program only know blocks in order.
  comm::ShardingAttr atBoundary(mlir::Value value, comm::ShardingAttr sharding) const;

  /// Returns the order of blocks in which a step reads or leaves a dim of `value`; empty if they are in order.
  llvm::SmallVector<int64_t> orderOf(mlir::Value value, const ReshardStep &step, const comm::Mesh &mesh) const;

  /// Returns the zigzag; there must be one.
  const Zigzag &order() const { return *zigzag; }

private:
  bool contains(mlir::Value value, int64_t dim, comm::AxesAttr axes) const {
    return zigzag && zigzag->shards(axes) && tokens->kindOf(value, dim) == TokenDims::Kind::Sequence;
  }

  std::optional<Zigzag> zigzag;
  std::optional<TokenDims> tokens;
};

/// Builds an op on its shard, if the shard has two blocks of the positional factor of `dims` with the starts `starts`,
/// as tensor<i32>. An op without sharded operands, such as an iota, is built for both starts, and a select picks the
/// result, so that it fuses with its readers. Other ops are built on each block, and the results are joined.
llvm::SmallVector<mlir::Value> buildZigzagShard(mlir::Operation &op, mlir::OpBuilder &builder, const FactorDims &dims,
                                                llvm::ArrayRef<mlir::Value> starts, const Shard &shard);

} // namespace braid

#endif // BRAID_PASSES_SHARDING_ZIGZAGDIMS_H
