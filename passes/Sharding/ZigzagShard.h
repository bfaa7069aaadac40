//===- ZigzagShard.h - an op on the two blocks of a rank --------*- C++ -*-===//
#ifndef BRAID_PASSES_SHARDING_ZIGZAGSHARD_H
#define BRAID_PASSES_SHARDING_ZIGZAGSHARD_H

#include "dialects/Interfaces/ShardingRule.h"

namespace braid {

/// Builds an op on its shard, if the shard has two blocks of the positional factor `factor` with the starts `starts`,
/// as tensor<i32>. An op without sharded operands, such as an iota, is built for both starts, and a select picks the
/// result, so that it fuses with its readers. Other ops are built on each block, and the results are joined.
llvm::SmallVector<mlir::Value> buildZigzagShard(mlir::Operation &op, mlir::OpBuilder &builder, const ShardingRule &rule,
                                                unsigned factor, llvm::ArrayRef<mlir::Value> starts,
                                                const Shard &shard);

/// Builds an op on its shard, by its sharding rule interface or, without one, as a clone.
llvm::SmallVector<mlir::Value> buildOnShard(mlir::Operation &op, mlir::OpBuilder &builder, const Shard &shard);

} // namespace braid

#endif // BRAID_PASSES_SHARDING_ZIGZAGSHARD_H
