//===- Chunks.h - ops on a part of what they compute ------------*- C++ -*-===//
//
// What an op computes along one factor of its sharding rule it can compute in chunks, each as a
// rank of a mesh would that has this part alone.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SHARDING_CHUNKS_H
#define BRAID_LIB_SHARDING_CHUNKS_H

#include "dialects/Interfaces/Interfaces.h"

namespace braid {

/// Of an op: the factor of its rule that is cut, and of each tensor the dim that holds it as its
/// major part; none for a tensor that is whole in each chunk.
struct ChunkDims {
  ShardingRule rule;
  unsigned factor;
  llvm::SmallVector<std::optional<unsigned>> operands, results;

  static ChunkDims along(ShardingRule rule, unsigned factor);
  const Factor &getFactor() const { return rule.factors[factor]; }
};

/// The type of one of `count` chunks of a value along a dim, or of all of it.
mlir::RankedTensorType typeOfChunk(mlir::Value value, std::optional<unsigned> dim, int64_t count);

/// Chunk `number` of `count` along a dim.  What is joined of equal chunks is not cut again.
mlir::Value sliceChunk(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, unsigned dim, int64_t number,
                       int64_t count);

/// Builds chunk `number` of `count` of an op on chunks of its operands.
llvm::SmallVector<mlir::Value> buildChunk(mlir::OpBuilder &builder, mlir::Operation *op, const ChunkDims &dims,
                                          mlir::ValueRange operands, int64_t number, int64_t count);

} // namespace braid

#endif // BRAID_LIB_SHARDING_CHUNKS_H
