//===- Zigzag.h - positions of zigzag blocks --------------------*- C++ -*-===//
//
// The arithmetic of `comm.zigzag`; dialects/Comm/Zigzag.h defines its meaning. Other axes may shard the dim, too.
// Axes before the zigzag axis divide the dim in order; axes behind it divide a rank's two blocks.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SHARDING_ZIGZAG_H
#define BRAID_LIB_SHARDING_ZIGZAG_H

#include "dialects/Comm/Mesh.h"

namespace braid {

struct Zigzag {
  mlir::StringAttr axis;
  int64_t ranks; ///< Number of ranks along the axis.

  /// Returns the zigzag of the module around `op`; no value without one. Fails if its axis is not in the mesh.
  static mlir::FailureOr<std::optional<Zigzag>> of(mlir::Operation *op, const comm::Mesh &mesh);

  bool shards(comm::AxesAttr axes) const { return axes.contains(axis); }
  /// Return the axes of a dim before the zigzag axis, and behind it.
  comm::AxesAttr before(comm::AxesAttr axes) const;
  comm::AxesAttr behind(comm::AxesAttr axes) const;

  /// Returns why a dim of `size` cannot be divided over `axes`; empty if it can.
  std::string problemOf(int64_t size, comm::AxesAttr axes, const comm::Mesh &mesh) const;

  /// Returns the blocks of a dim in the order of the ranks along `axes`, one rank behind the other.
  llvm::SmallVector<int64_t> heldOrder(comm::AxesAttr axes, const comm::Mesh &mesh) const;
  /// Returns the position of each block of the sequence in that order: the inverse.
  llvm::SmallVector<int64_t> placesInHeldOrder(comm::AxesAttr axes, const comm::Mesh &mesh) const;
};

/// Advice that ends messages about a zigzag problem.
inline constexpr llvm::StringLiteral kInOrderAdvice = "shard the sequence in order (--context-order=straight)";

} // namespace braid

#endif // BRAID_LIB_SHARDING_ZIGZAG_H
