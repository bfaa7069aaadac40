//===- Projection.h - tensor shardings on the factors of an op --*- C++ -*-===//
//
// Each tensor of an op proposes axes for the op's factors: its sharding, projected onto
// them. Two proposals for a factor are compatible if one list of axes is a prefix of
// the other. An axis can shard only one factor. `resolveConflicts` decides between
// incompatible proposals by priority.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SHARDING_PROJECTION_H
#define BRAID_LIB_SHARDING_PROJECTION_H

#include "lib/Sharding/FactorAxes.h"

namespace braid {

/// An axis that a tensor's sharding projects onto a factor, and the annotation that it comes from.
struct ProjectedAxis {
  unsigned axis; ///< Number of the axis in the mesh.
  unsigned source;
};

/// Axes of one dim or factor, major to minor.
using AxisProjection = llvm::SmallVector<ProjectedAxis, 2>;

/// Projected axes of a tensor: those of each dim, and those of the flat order.
struct TensorProjection {
  llvm::SmallVector<AxisProjection, 4> dims;
  AxisProjection flat;

  /// Returns whether some dim or the flat order is sharded along an axis.
  bool uses(unsigned axis) const;
};

TensorProjection project(comm::ShardingAttr sharding, const comm::Mesh &mesh, unsigned source);

/// A rule and the projections of its tensors, operands first.
struct Tensors {
  const ShardingRule &rule;
  /// Null for tensors that follow the others and propose nothing.
  llvm::ArrayRef<const TensorProjection *> projections;
  /// Whether decomposed factors can be sharded too, because the op will be decomposed.
  bool decomposable;

  bool canShard(unsigned factor) const {
    const Factor &entry = rule.factors[factor];
    return entry.decomposed ? decomposable : entry.kind != FactorKind::Whole;
  }
  bool canShardFlat() const { return decomposable ? rule.flat : runsFlat(rule); }
};

/// An axis that a tensor proposes for a factor.
struct Candidate {
  ProjectedAxis projected;
  unsigned factor; ///< Number of the factor; the number of factors for the flat order.
  unsigned tensor;
  unsigned position; ///< Position in the list of the factor's axes.
  int64_t priority;
};

/// Axes of each factor of an op, after conflicts are resolved.
struct Resolution {
  llvm::SmallVector<AxisProjection> factors;
  AxisProjection flat;
  /// Whether a candidate lost against another.
  bool hadConflict = false;
  /// First two incompatible candidates of equal priority whose sources contradict.
  std::optional<std::pair<Candidate, Candidate>> conflict;
};

/// Gives each factor the axes that the tensors propose for it. Among incompatible candidates
/// the one with the smaller `priorityOf` wins, then the one of the earlier factor. Equal
/// priorities of sources that `contradict` are reported as a conflict.
Resolution resolveConflicts(const Tensors &tensors, const comm::Mesh &mesh,
                            llvm::function_ref<int64_t(unsigned tensor, ProjectedAxis axis)> priorityOf,
                            llvm::function_ref<bool(unsigned source, unsigned other)> contradict);

/// Returns the axes that a resolution gives to the dims of one tensor.
TensorProjection projectionOnto(const Tensors &tensors, unsigned tensor, const Resolution &resolution);

/// Converts a resolution to attributes.
FactorAxes factorAxes(const Resolution &resolution, const comm::Mesh &mesh, mlir::MLIRContext *context);
comm::AxesAttr axesOf(const AxisProjection &axes, const comm::Mesh &mesh, mlir::MLIRContext *context);

} // namespace braid

#endif // BRAID_LIB_SHARDING_PROJECTION_H
