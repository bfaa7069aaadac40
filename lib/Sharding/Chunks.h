//===- Chunks.h - ops split into chunks -------------------------*- C++ -*-===//
//
// An op can compute one factor of its sharding rule in chunks. Each chunk is computed like the
// part of a rank of a mesh.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SHARDING_CHUNKS_H
#define BRAID_LIB_SHARDING_CHUNKS_H

#include "lib/Sharding/DimFlow.h"

namespace braid {

/// Cut of a dim into equal chunks. With several blocks side by side in the dim (such as the ranks' blocks after
/// a gather), a chunk has a part of each block. The dim before then has size 1 in the whole tensor, and one
/// index per block in a chunk.
struct Cut {
  int64_t chunks, blocks = 1;
};

/// Returns the type of a chunk of a value along a dim; the value's type without a dim.
mlir::RankedTensorType typeOfChunk(mlir::Value value, std::optional<unsigned> dim, Cut cut);

/// Returns a chunk along a dim. A value that was joined from the same chunks is not sliced again.
mlir::Value sliceChunk(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, unsigned dim, int64_t number,
                       Cut cut);

/// Joins chunks along a dim to one tensor of `type`.
mlir::Value joinChunks(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange chunks,
                       mlir::RankedTensorType type, unsigned dim, Cut cut);

/// Builds one chunk of an op from chunks of its operands: by its number, or by `start`, the index in the factor at
/// which it begins, a tensor<i32>.
llvm::SmallVector<mlir::Value> buildChunk(mlir::OpBuilder &builder, mlir::Operation *op, const FactorDims &dims,
                                          mlir::ValueRange operands, int64_t number, Cut cut);
llvm::SmallVector<mlir::Value> buildChunkAt(mlir::OpBuilder &builder, mlir::Operation *op, const FactorDims &dims,
                                            mlir::ValueRange operands, Cut cut,
                                            llvm::function_ref<mlir::Value()> start);

} // namespace braid

#endif // BRAID_LIB_SHARDING_CHUNKS_H
