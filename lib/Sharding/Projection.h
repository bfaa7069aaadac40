//===- Projection.h - tensor shardings on the factors of an op --*- C++ -*-===//
//
// The sharding of a tensor, projected onto the factors of an op that uses it, proposes
// axes for those factors.  Two proposals for a factor are compatible when one list of
// axes is a prefix of the other; and an axis can shard one factor only.  Where the
// tensors of an op propose incompatible axes, `resolveConflicts` decides by priority.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SHARDING_PROJECTION_H
#define BRAID_LIB_SHARDING_PROJECTION_H

#include "lib/Sharding/FactorAxes.h"

namespace braid {

/// An axis that a tensor's sharding projects onto a factor, and the annotation that it
/// comes from.
struct ProjectedAxis {
  unsigned axis; ///< The number of the axis in the mesh.
  unsigned source;
};

/// The axes of one dim or factor, major to minor.
using AxisProjection = llvm::SmallVector<ProjectedAxis, 2>;

/// The projected axes of a tensor: of each dim, and of the flat order.
struct TensorProjection {
  llvm::SmallVector<AxisProjection, 4> dims;
  AxisProjection flat;

  /// Whether some dim or the flat order is sharded along an axis.
  bool uses(unsigned axis) const;
};

TensorProjection project(comm::ShardingAttr sharding, const comm::Mesh &mesh, unsigned source);

/// A rule and the projections of its tensors, operands first.
struct Tensors {
  const ShardingRule &rule;
  /// Null for tensors that follow the others and propose nothing.
  llvm::ArrayRef<const TensorProjection *> projections;
  /// Factors that must be decomposed can be sharded too: the op will be decomposed.
  bool decomposable;

  const ShardingRule::TensorFactors &factorsOf(unsigned tensor) const {
    size_t operands = rule.operands.size();
    return tensor < operands ? rule.operands[tensor] : rule.results[tensor - operands];
  }
  bool canShard(unsigned factor) const {
    const Factor &it = rule.factors[factor];
    return it.decomposed ? decomposable : it.kind != FactorKind::Whole;
  }
  bool canShardFlat() const { return decomposable ? rule.flat : runsFlat(rule); }
};

/// An axis that a tensor proposes for a factor.
struct Candidate {
  ProjectedAxis projected;
  unsigned factor; ///< The number of factors for the flat order.
  unsigned tensor;
  unsigned position; ///< In the list of the factor's axes.
  int64_t priority;
};

/// The axes of each factor of an op, after conflicts are resolved.
struct Resolution {
  llvm::SmallVector<AxisProjection> factors;
  AxisProjection flat;
  /// Some candidate lost against another.
  bool hadConflict = false;
  /// The first two incompatible candidates of equal priority whose sources contradict.
  std::optional<std::pair<Candidate, Candidate>> conflict;
};

/// Gives each factor the axes that the tensors propose for it.  Of incompatible
/// candidates the one with the smaller `priorityOf` wins, and of equal ones that of the
/// earlier factor; equal priorities of sources that `contradict` are reported as a conflict.
Resolution resolveConflicts(const Tensors &tensors, const comm::Mesh &mesh,
                            llvm::function_ref<int64_t(unsigned tensor, ProjectedAxis axis)> priorityOf,
                            llvm::function_ref<bool(unsigned source, unsigned other)> contradict);

/// The axes that a resolution gives to the dims of one tensor.
TensorProjection projectionOnto(const Tensors &tensors, unsigned tensor, const Resolution &resolution);

/// A resolution in terms of attributes.
FactorAxes factorAxes(const Resolution &resolution, const comm::Mesh &mesh, mlir::MLIRContext *context);
comm::AxesAttr axesOf(const AxisProjection &axes, const comm::Mesh &mesh, mlir::MLIRContext *context);

} // namespace braid

#endif // BRAID_LIB_SHARDING_PROJECTION_H
