//===- ChunkSite.h - a collective and the contractions beside it -*- C++ -*-===//
#ifndef BRAID_PASSES_COLLECTIVES_CHUNKSITE_H
#define BRAID_PASSES_COLLECTIVES_CHUNKSITE_H

#include "dialects/Comm/Comm.h"
#include "lib/Sharding/Chunks.h"
#include "llvm/ADT/MapVector.h"

namespace braid {

/// A collective, and ops that can be computed in chunks of rows together with it: those that make what
/// it sends, or those that read what it makes.
class ChunkSite {
public:
  /// None where no contraction is beside it that could be computed so.
  static std::optional<ChunkSite> find(comm::CollectiveOpInterface collective);

  comm::CollectiveOpInterface getCollective() const { return collective; }
  /// Whether contractions make what is sent, and not read what is received.
  bool isBehind() const { return behind; }
  bool canSplit(int64_t count) const;
  /// Of what is joined by a copy.
  int64_t getCopiedBytes() const;
  const llvm::MapVector<mlir::Operation *, ChunkDims> &getOps() const { return ops; }
  /// Where chunks are computed.
  mlir::Operation *getPlace() const { return place; }

  /// Computes and communicates chunk by chunk, and joins what others read.
  void split(int64_t count);

private:
  /// What stands for values in a chunk.
  using Chunk = llvm::DenseMap<mlir::Value, mlir::Value>;

  ChunkSite(comm::CollectiveOpInterface collective, unsigned dim, int64_t blocks)
      : collective(collective), dim(dim), blocks(blocks) {}

  bool findMakers();
  bool findReaders();
  bool addMaker(mlir::Value value, unsigned at);
  bool addReader(mlir::Operation *op, const llvm::DenseMap<mlir::Value, unsigned> &rows);
  void addBroadcast(mlir::Value value, ChunkDims dims);
  std::optional<ChunkDims> dimsOfReader(mlir::Operation *op, const llvm::DenseMap<mlir::Value, unsigned> &rows) const;
  bool isThere(mlir::Value value, llvm::SmallVectorImpl<mlir::Operation *> &before) const;
  bool hasContraction() const;

  bool takesChunks(mlir::Operation *op) const;
  bool isElsewhere(mlir::OpOperand &use) const { return use.getOwner() != collective && !ops.contains(use.getOwner()); }
  bool isReadElsewhere(mlir::Value value) const;

  Cut receivedCut(int64_t count) const { return {count, behind ? 1 : blocks}; }
  void buildOps(mlir::OpBuilder &builder, int64_t number, Cut cut, Chunk &made) const;
  void buildCollective(mlir::OpBuilder &builder, mlir::Location loc, int64_t number, int64_t count, Chunk &made) const;
  mlir::Location locationOfChunks() const;
  void join(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, unsigned at, Cut cut,
            llvm::ArrayRef<Chunk> chunks);

  comm::CollectiveOpInterface collective;
  unsigned dim;   ///< Of what is sent and received.
  int64_t blocks; ///< Of ranks, in this dim of what is computed in chunks.
  bool behind = false;
  mlir::Operation *place = nullptr;
  /// What is computed in chunks, in the order of the block; of these, broadcasts that each chunk makes for itself.
  llvm::MapVector<mlir::Operation *, ChunkDims> ops;
  llvm::SmallVector<mlir::Operation *> broadcasts;
  /// What must be moved to the front of the place, in the order of the block.
  llvm::SmallVector<mlir::Operation *> early;
};

/// True for an op that is priced as a matmul.
bool isContraction(mlir::Operation *op);

} // namespace braid

#endif // BRAID_PASSES_COLLECTIVES_CHUNKSITE_H
