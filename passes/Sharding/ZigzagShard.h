//===- ZigzagShard.h - an op on the two blocks of a rank --------*- C++ -*-===//
#ifndef BRAID_PASSES_SHARDING_ZIGZAGSHARD_H
#define BRAID_PASSES_SHARDING_ZIGZAGSHARD_H

#include "dialects/Interfaces/ShardingRule.h"

namespace braid {

/// Builds an op on its shard, where the shard has two blocks of the positional factor `factor`, which start at
/// `starts`, tensor<i32>: an op for each.  What reads nothing that is sharded, such as an iota, is fused with its
/// readers: it is made for both blocks at both places, and selected.  Everything else is made for each block alone and
/// joined.
llvm::SmallVector<mlir::Value> buildZigzagShard(mlir::Operation &op, mlir::OpBuilder &builder, const ShardingRule &rule,
                                                unsigned factor, llvm::ArrayRef<mlir::Value> starts,
                                                const Shard &shard);

/// An op on its shard, whatever it says of itself.
llvm::SmallVector<mlir::Value> buildOnShard(mlir::Operation &op, mlir::OpBuilder &builder, const Shard &shard);

} // namespace braid

#endif // BRAID_PASSES_SHARDING_ZIGZAGSHARD_H
