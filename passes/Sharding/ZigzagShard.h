//===- ZigzagShard.h - an op on the two blocks of a rank --------*- C++ -*-===//
#ifndef BRAID_PASSES_SHARDING_ZIGZAGSHARD_H
#define BRAID_PASSES_SHARDING_ZIGZAGSHARD_H

#include "lib/Sharding/DimFlow.h"

namespace braid {

/// Builds an op on its shard, if the shard has two blocks of the positional factor of `dims` with the starts `starts`,
/// as tensor<i32>. An op without sharded operands, such as an iota, is built for both starts, and a select picks the
/// result, so that it fuses with its readers. Other ops are built on each block, and the results are joined.
llvm::SmallVector<mlir::Value> buildZigzagShard(mlir::Operation &op, mlir::OpBuilder &builder, const FactorDims &dims,
                                                llvm::ArrayRef<mlir::Value> starts, const Shard &shard);

} // namespace braid

#endif // BRAID_PASSES_SHARDING_ZIGZAGSHARD_H
