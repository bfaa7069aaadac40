//===- Rings.h - ops that can become rings ----------------------*- C++ -*-===//
#ifndef BRAID_PASSES_COLLECTIVES_RINGS_H
#define BRAID_PASSES_COLLECTIVES_RINGS_H

#include "dialects/TG/TG.h"
#include "lib/Sharding/Zigzag.h"

namespace braid {

/// An op of a ring, and which half of the rank's queries it computes, if not all.
struct RingOp {
  explicit RingOp(BlockwiseOpInterface op);

  /// Whether its queries attend to all of a piece of any rank's block. True for the second half of queries and
  /// first pieces, which precede them.
  bool attendsToAll(int64_t piece) const { return half == 1 && piece == 0 && isCausal && attendsToAllEarlier; }
  /// Whether its queries attend to nothing of a piece. True for the first half of queries and second pieces,
  /// which follow them.
  bool attendsToNothing(int64_t piece) const { return half == 0 && piece == 1 && isCausal; }

  /// Whether this op computes the other half of the op of `first`.
  bool completes(const RingOp &first) const {
    return first.half == 0 && half == 1 && op->getName() == first.op->getName();
  }

  BlockwiseOpInterface op;
  std::optional<int64_t> half;
  bool isCausal, attendsToAllEarlier;
};

/// The operands that ops read from other ranks' blocks, and the results that they add to them.
struct Ring {
  mlir::FlatSymbolRefAttr mesh;
  comm::AxesAttr axes;
  int64_t ranks, positions;           ///< Number of ranks, and positions in a block.
  bool inZigzag;                      ///< Whether a block is two pieces of the sequence.
  llvm::SmallVector<mlir::Value> own; ///< The rank's own block of each operand.
  /// The op that scatters the sum of each result that belongs to blocks; null for a result without readers.
  llvm::SmallVector<comm::ReduceScatterOp> scatters;

  int64_t pieces() const { return inZigzag ? 2 : 1; }
  /// Returns the number of positions in a piece.
  int64_t size() const { return positions / pieces(); }
};

/// Finds ops that can become a ring.
class RingFinder {
public:
  RingFinder(llvm::ArrayRef<RingOp> ops, comm::AxesAttr axes, const comm::Mesh &mesh,
             const std::optional<Zigzag> &zigzag)
      : ops(ops), op(ops.front().op), dims(op.getBlockDims()), axes(axes), mesh(mesh), zigzag(zigzag) {}

  /// Returns nothing if an operand is not gathered along the ring's axes.
  mlir::FailureOr<std::optional<Ring>> find();

private:
  struct Gathered {
    comm::AllGatherOp gather;
    bool inZigzag;
  };

  Gathered gathered(mlir::Value value, unsigned dim);
  bool isAlongRing(comm::AllGatherOp gather, unsigned dim);
  comm::ReduceScatterOp scatterOf(const Ring &ring, unsigned number, unsigned dim);
  mlir::FailureOr<std::optional<Ring>> checkGathersNothing();
  llvm::LogicalResult check(const Ring &ring);

  llvm::ArrayRef<RingOp> ops;
  BlockwiseOpInterface op; ///< The first of `ops`.
  BlockDims dims;
  comm::AxesAttr axes;
  const comm::Mesh &mesh;
  const std::optional<Zigzag> &zigzag;
};

} // namespace braid

#endif // BRAID_PASSES_COLLECTIVES_RINGS_H
