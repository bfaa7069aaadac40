//===- Rings.h - ops that can be rings --------------------------*- C++ -*-===//
#ifndef BRAID_PASSES_COLLECTIVES_RINGS_H
#define BRAID_PASSES_COLLECTIVES_RINGS_H

#include "dialects/TG/TG.h"
#include "lib/Sharding/Zigzag.h"

namespace braid {

/// An op of a ring, and which half of a rank's queries it has, if not all.
struct RingOp {
  /// Under which an op says its mask; one that says none counts all.
  static constexpr llvm::StringLiteral kMask = "mask";

  explicit RingOp(BlockwiseOpInterface op);

  /// Whether its queries count all of a piece of any rank's block: the second half stands behind all first pieces.
  bool countsAll(int64_t piece) const { return half == 1 && piece == 0 && mask.getCausal() && !mask.hasWindow(); }
  /// Whether they count nothing: the first half stands before all second pieces.
  bool countsNothing(int64_t piece) const { return half == 0 && piece == 1 && mask.getCausal(); }

  /// Whether it is the other half of what `first` computes.
  bool completes(const RingOp &first) const {
    return first.half == 0 && half == 1 && op->getName() == first.op->getName();
  }

  BlockwiseOpInterface op;
  std::optional<int64_t> half;
  tg::MaskAttr mask;
};

/// What some ops read and make of other ranks' blocks.
struct Ring {
  mlir::FlatSymbolRefAttr mesh;
  comm::AxesAttr axes;
  int64_t ranks, positions;           ///< of a block
  bool inZigzag;                      ///< A block is two of the sequence.
  llvm::SmallVector<mlir::Value> own; ///< The rank's block of each operand.
  /// Of each result that belongs to blocks, what scatters the sum; null where nobody reads it.
  llvm::SmallVector<comm::ReduceScatterOp> scatters;

  int64_t pieces() const { return inZigzag ? 2 : 1; }
  /// Positions in a piece.
  int64_t size() const { return positions / pieces(); }
};

/// Finds what can be a ring.
class RingFinder {
public:
  RingFinder(llvm::ArrayRef<RingOp> ops, comm::AxesAttr axes, const comm::Mesh &mesh,
             const std::optional<Zigzag> &zigzag)
      : ops(ops), op(ops.front().op), dims(op.getBlockDims()), axes(axes), mesh(mesh), zigzag(zigzag) {}

  /// None where an operand is not gathered along the ring's axes.
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
  BlockwiseOpInterface op; ///< The first of them.
  BlockDims dims;
  comm::AxesAttr axes;
  const comm::Mesh &mesh;
  const std::optional<Zigzag> &zigzag;
};

} // namespace braid

#endif // BRAID_PASSES_COLLECTIVES_RINGS_H
