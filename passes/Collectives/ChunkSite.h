//===- ChunkSite.h - a collective and the contractions beside it -*- C++ -*-===//
#ifndef BRAID_PASSES_COLLECTIVES_CHUNKSITE_H
#define BRAID_PASSES_COLLECTIVES_CHUNKSITE_H

#include "dialects/Comm/Comm.h"
#include "lib/Sharding/Chunks.h"
#include "llvm/ADT/MapVector.h"

namespace braid {

/// A collective, and ops that can be computed together with it in chunks of rows. The ops either produce what
/// it sends or consume what it receives.
class ChunkSite {
public:
  /// Returns the site of a collective, or nothing if no adjacent contraction can be chunked.
  static std::optional<ChunkSite> find(comm::CollectiveOpInterface collective);

  comm::CollectiveOpInterface getCollective() const { return collective; }
  /// Returns true if contractions produce the sent value, and false if they read the received value.
  bool isBehind() const { return behind; }
  bool canSplit(int64_t count) const;
  /// Returns the bytes that a copy must join after the chunks; 0 if each chunk is written to its place.
  int64_t getCopiedBytes() const;
  const llvm::MapVector<mlir::Operation *, FactorDims> &getOps() const { return ops; }
  /// Returns the op before which the chunks are computed.
  mlir::Operation *getPlace() const { return place; }

  /// Splits the ops into chunks, and joins the chunks of values that other ops read.
  void split(int64_t count);

private:
  /// The values of one chunk, by the whole value.
  using Chunk = llvm::DenseMap<mlir::Value, mlir::Value>;

  ChunkSite(comm::CollectiveOpInterface collective, unsigned dim, int64_t blocks)
      : collective(collective), dim(dim), blocks(blocks) {}

  bool findProducers();
  bool findReaders();
  bool addProducer(mlir::Value value, unsigned at);
  bool addReader(mlir::Operation *op, const llvm::DenseMap<mlir::Value, unsigned> &rows);
  void addBroadcast(mlir::Value value, FactorDims dims);
  std::optional<FactorDims> dimsOfReader(mlir::Operation *op, const llvm::DenseMap<mlir::Value, unsigned> &rows) const;
  bool isAvailable(mlir::Value value, llvm::SmallVectorImpl<mlir::Operation *> &before) const;
  bool hasContraction() const;

  bool supportsChunks(mlir::Operation *op) const;
  bool isUseOutside(mlir::OpOperand &use) const {
    return use.getOwner() != collective && !ops.contains(use.getOwner());
  }
  bool isReadElsewhere(mlir::Value value) const;

  Cut receivedCut(int64_t count) const { return {count, behind ? 1 : blocks}; }
  void buildOps(mlir::OpBuilder &builder, int64_t number, Cut cut, Chunk &made) const;
  void buildCollective(mlir::OpBuilder &builder, mlir::Location loc, int64_t number, int64_t count, Chunk &made) const;
  mlir::Location locationOfChunks() const;
  void join(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, unsigned at, Cut cut,
            llvm::ArrayRef<Chunk> chunks);

  comm::CollectiveOpInterface collective;
  unsigned dim;   ///< Dim of the rows, in the sent and the received value.
  int64_t blocks; ///< Number of ranks' blocks in this dim of the chunked values.
  bool behind = false;
  mlir::Operation *place = nullptr;
  /// Ops that are computed in chunks, in block order. Each chunk repeats the ops in `broadcasts`.
  llvm::MapVector<mlir::Operation *, FactorDims> ops;
  llvm::SmallVector<mlir::Operation *> broadcasts;
  /// Ops that must move before the place, in block order.
  llvm::SmallVector<mlir::Operation *> early;
};

/// True for an op that is priced as a matmul.
bool isContraction(mlir::Operation *op);

} // namespace braid

#endif // BRAID_PASSES_COLLECTIVES_CHUNKSITE_H
