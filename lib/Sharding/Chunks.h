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
  /// Whether the factor is the major part of every dim that has it, so that chunks are slices.
  bool areMajor() const;
};

/// How a dim is cut in equal chunks: all of it, or each of several blocks that lie side by side in it, as those
/// of ranks do in what is gathered.  A chunk then has its part of each block; the dim before has one index in
/// the whole, and an index for each block in a chunk.
struct Cut {
  int64_t chunks, blocks = 1;
};

/// The type of a chunk of a value along a dim, or of all of it.
mlir::RankedTensorType typeOfChunk(mlir::Value value, std::optional<unsigned> dim, Cut cut);

/// A chunk along a dim.  What is joined of the same chunks is not cut again.
mlir::Value sliceChunk(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, unsigned dim, int64_t number,
                       Cut cut);

/// Chunks along a dim, as one tensor of `type`.
mlir::Value joinChunks(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange chunks,
                       mlir::RankedTensorType type, unsigned dim, Cut cut);

/// Builds a chunk of an op on chunks of its operands.
llvm::SmallVector<mlir::Value> buildChunk(mlir::OpBuilder &builder, mlir::Operation *op, const ChunkDims &dims,
                                          mlir::ValueRange operands, int64_t number, Cut cut);

} // namespace braid

#endif // BRAID_LIB_SHARDING_CHUNKS_H
