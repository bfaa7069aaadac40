//===- Zigzag.h - where blocks are that ranks share out in zigzag -*- C++ -*-===//
//
// The arithmetic of `comm.zigzag`; see dialects/Comm/Zigzag.h for what it means.  A dim may be sharded over other
// axes, too: those before the axis of the zigzag share out the dim in order, and those behind it a rank's two blocks.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SHARDING_ZIGZAG_H
#define BRAID_LIB_SHARDING_ZIGZAG_H

#include "dialects/Comm/Mesh.h"

namespace braid {

struct Zigzag {
  mlir::StringAttr axis;
  int64_t ranks; ///< Along the axis.

  /// That of the module around `op`; none where it says nothing, an error where its axis is none of the mesh.
  static mlir::FailureOr<std::optional<Zigzag>> of(mlir::Operation *op, const comm::Mesh &mesh);

  bool shards(comm::AxesAttr axes) const { return axes.contains(axis); }
  /// The axes of a dim before that of the zigzag, and behind it.
  comm::AxesAttr before(comm::AxesAttr axes) const;
  comm::AxesAttr behind(comm::AxesAttr axes) const;

  /// Why a dim of `size` cannot be shared out over `axes`; empty if it can.
  std::string problemOf(int64_t size, comm::AxesAttr axes, const comm::Mesh &mesh) const;

  /// The blocks of a dim in the order in which the ranks along `axes` have them, one rank behind the other.
  llvm::SmallVector<int64_t> heldOrder(comm::AxesAttr axes, const comm::Mesh &mesh) const;
  /// Where each block of the sequence is among those that ranks have: the inverse.
  llvm::SmallVector<int64_t> placesInHeldOrder(comm::AxesAttr axes, const comm::Mesh &mesh) const;
};

/// What to do about a problem.
inline constexpr llvm::StringLiteral kStraightInstead = "shard the sequence in order (--context-order=straight)";

/// Blocks of `value` along `dim` in another order: block k is block order[k] of `value`.
mlir::Value reorderBlocks(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, int64_t dim,
                          llvm::ArrayRef<int64_t> order);
/// What `result` has the blocks of in this order; null where it has not.
mlir::Value reorderedBlocks(mlir::Value result, int64_t dim, llvm::ArrayRef<int64_t> order);

} // namespace braid

#endif // BRAID_LIB_SHARDING_ZIGZAG_H
