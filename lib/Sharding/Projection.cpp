//===- Projection.cpp - tensor shardings on the factors of an op ----------===//

#include "lib/Sharding/Projection.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

static bool holds(const AxisProjection &list, unsigned axis) {
  return llvm::any_of(list, [&](ProjectedAxis entry) { return entry.axis == axis; });
}

bool TensorProjection::uses(unsigned axis) const {
  return holds(flat, axis) || llvm::any_of(dims, [&](const AxisProjection &dim) { return holds(dim, axis); });
}

TensorProjection braid::project(ShardingAttr sharding, const Mesh &mesh, unsigned source) {
  auto read = [&](AxesAttr axes) {
    AxisProjection list;
    for (StringAttr name : axes.getNames())
      list.push_back({static_cast<unsigned>(llvm::find(mesh.getNames(), name) - mesh.getNames().begin()), source});
    return list;
  };
  TensorProjection projection;
  for (AxesAttr dim : sharding.getDims())
    projection.dims.push_back(read(dim));
  projection.flat = read(sharding.getFlat());
  return projection;
}

AxesAttr braid::axesOf(const AxisProjection &axes, const Mesh &mesh, MLIRContext *context) {
  SmallVector<StringAttr> names;
  for (ProjectedAxis entry : axes)
    names.push_back(mesh.getNames()[entry.axis]);
  return AxesAttr::get(context, names);
}

FactorAxes braid::factorAxes(const Resolution &resolution, const Mesh &mesh, MLIRContext *context) {
  FactorAxes axes;
  for (const AxisProjection &factor : resolution.factors)
    axes.factors.push_back(axesOf(factor, mesh, context));
  axes.flat = axesOf(resolution.flat, mesh, context);
  return axes;
}

//===----------------------------------------------------------------------===//
// Collecting
//===----------------------------------------------------------------------===//

namespace {
/// Collects the candidates of one op and decides between them.
class ConflictResolver {
public:
  ConflictResolver(const Tensors &tensors, const Mesh &mesh,
                   llvm::function_ref<int64_t(unsigned, ProjectedAxis)> priorityOf,
                   llvm::function_ref<bool(unsigned, unsigned)> contradict)
      : tensors(tensors), mesh(mesh), priorityOf(priorityOf), contradict(contradict),
        flatFactor(tensors.rule.factors.size()) {}

  Resolution run();

private:
  void collect(unsigned tensor);
  /// Proposes the axes of one dim for its factors. Leaves out axes that do not fit the
  /// factors; the tensor is resharded along those.
  void collectDim(unsigned tensor, ArrayRef<unsigned> dim, const AxisProjection &axes);
  /// Adds a candidate. Positions and priorities grow along a list, so an axis cannot
  /// win if the axis before it loses.
  void propose(unsigned tensor, unsigned factor, ProjectedAxis axis, unsigned position, int64_t &priority);
  void assign(const Candidate &candidate);
  void reject(const Candidate &candidate, const Candidate &winner);
  void keepExpressible();
  bool dropHidden(const ShardingRule::TensorFactors &dims);
  bool dropMixedPartials(const ShardingRule::TensorFactors &result);
  bool dropFlat();

  const Tensors &tensors;
  const Mesh &mesh;
  llvm::function_ref<int64_t(unsigned, ProjectedAxis)> priorityOf;
  llvm::function_ref<bool(unsigned, unsigned)> contradict;
  unsigned flatFactor;
  SmallVector<Candidate> candidates;
  /// Winning candidates of each factor; the flat order comes last.
  SmallVector<SmallVector<Candidate, 2>> assigned;
  /// Winning candidate of each mesh axis; no value if it has none yet.
  SmallVector<std::optional<Candidate>> owners;
  Resolution resolution;
};
} // namespace

void ConflictResolver::propose(unsigned tensor, unsigned factor, ProjectedAxis axis, unsigned position,
                               int64_t &priority) {
  priority = std::max(priority, priorityOf(tensor, axis));
  candidates.push_back({axis, factor, tensor, position, priority});
}

void ConflictResolver::collectDim(unsigned tensor, ArrayRef<unsigned> dim, const AxisProjection &axes) {
  size_t next = 0;
  int64_t priority = 0;
  for (unsigned factor : dim) {
    int64_t left = tensors.rule.factors[factor].size;
    unsigned position = 0;
    while (next < axes.size() && tensors.canShard(factor) && left % mesh.getSizes()[axes[next].axis] == 0) {
      left /= mesh.getSizes()[axes[next].axis];
      propose(tensor, factor, axes[next++], position++, priority);
    }
    if (left > 1 || next == axes.size())
      return;
  }
}

void ConflictResolver::collect(unsigned tensor) {
  const TensorProjection *projection = tensors.projections[tensor];
  const ShardingRule::TensorFactors &factors = tensors.rule.tensor(tensor);
  if (!projection || factors.empty())
    return;
  for (auto [dim, axes] : llvm::zip_equal(factors, projection->dims))
    collectDim(tensor, dim, axes);
  int64_t priority = 0;
  if (tensors.canShardFlat())
    for (auto [position, axis] : llvm::enumerate(projection->flat))
      propose(tensor, flatFactor, axis, position, priority);
}

//===----------------------------------------------------------------------===//
// Assignment
//===----------------------------------------------------------------------===//

void ConflictResolver::reject(const Candidate &candidate, const Candidate &winner) {
  resolution.hadConflict = true;
  if (!resolution.conflict && candidate.priority == winner.priority &&
      contradict(candidate.projected.source, winner.projected.source))
    resolution.conflict = {winner, candidate};
}

void ConflictResolver::assign(const Candidate &candidate) {
  SmallVector<Candidate, 2> &list = assigned[candidate.factor];
  if (candidate.position < list.size()) {
    if (const Candidate &winner = list[candidate.position]; winner.projected.axis != candidate.projected.axis)
      reject(candidate, winner);
    return;
  }
  if (candidate.position > list.size())
    return; // the preceding axis was rejected
  std::optional<Candidate> &owner = owners[candidate.projected.axis];
  if (owner)
    return reject(candidate, *owner);
  owner = candidate;
  list.push_back(candidate);
}

//===----------------------------------------------------------------------===//
// Limits of tensor shardings
//===----------------------------------------------------------------------===//

/// Drops the axes of factors after a more major factor of the same dim that is not fully
/// sharded, because blocks of the dim cannot express them.
bool ConflictResolver::dropHidden(const ShardingRule::TensorFactors &dims) {
  bool changed = false;
  for (ArrayRef<unsigned> dim : dims) {
    bool fullySharded = true;
    for (unsigned factor : dim) {
      int64_t left = tensors.rule.factors[factor].size;
      if (!fullySharded && !assigned[factor].empty()) {
        assigned[factor].clear();
        changed = true;
      }
      for (const Candidate &candidate : assigned[factor])
        left /= mesh.getSizes()[candidate.projected.axis];
      fullySharded &= left == 1;
    }
  }
  return changed;
}

/// Drops the axes of factors along which the partial values of a result would combine
/// differently than along the first.
bool ConflictResolver::dropMixedPartials(const ShardingRule::TensorFactors &result) {
  BitVector has(tensors.rule.factors.size());
  for (ArrayRef<unsigned> dim : result)
    for (unsigned factor : dim)
      has.set(factor);
  std::optional<Combine> combine;
  bool changed = false;
  for (auto [index, factor] : llvm::enumerate(tensors.rule.factors)) {
    if (has[index] || assigned[index].empty())
      continue;
    if (combine && *combine != factor.combine) {
      assigned[index].clear();
      changed = true;
    } else {
      combine = factor.combine;
    }
  }
  return changed;
}

/// Drops the axes of the flat order if its ranges would cut blocks.
bool ConflictResolver::dropFlat() {
  SmallVector<int64_t> counts(assigned.size(), 1);
  for (auto [count, list] : llvm::zip_equal(counts, assigned))
    for (const Candidate &candidate : list)
      count *= mesh.getSizes()[candidate.projected.axis];
  if (fitsFlatRanges(tensors.rule, counts, counts[flatFactor]))
    return false;
  assigned[flatFactor].clear();
  return true;
}

void ConflictResolver::keepExpressible() {
  // Each round drops the axes of a factor, or is the last.
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned tensor = 0; tensor < tensors.projections.size(); ++tensor)
      changed |= dropHidden(tensors.rule.tensor(tensor));
    for (const ShardingRule::TensorFactors &result : tensors.rule.results)
      changed |= dropMixedPartials(result);
    changed |= dropFlat();
  }
}

Resolution ConflictResolver::run() {
  for (unsigned tensor = 0; tensor < tensors.projections.size(); ++tensor)
    collect(tensor);
  llvm::stable_sort(candidates, [](const Candidate &a, const Candidate &b) {
    return std::tie(a.priority, a.factor, a.tensor, a.position) < std::tie(b.priority, b.factor, b.tensor, b.position);
  });
  assigned.resize(flatFactor + 1);
  owners.resize(mesh.getSizes().size());
  for (const Candidate &candidate : candidates)
    assign(candidate);
  keepExpressible();
  for (ArrayRef<Candidate> list : assigned)
    resolution.factors.push_back(
        llvm::map_to_vector<2>(list, [](const Candidate &candidate) { return candidate.projected; }));
  resolution.flat = resolution.factors.pop_back_val();
  return std::move(resolution);
}

Resolution braid::resolveConflicts(const Tensors &tensors, const Mesh &mesh,
                                   llvm::function_ref<int64_t(unsigned, ProjectedAxis)> priorityOf,
                                   llvm::function_ref<bool(unsigned, unsigned)> contradict) {
  return ConflictResolver(tensors, mesh, priorityOf, contradict).run();
}

TensorProjection braid::projectionOnto(const Tensors &tensors, unsigned tensor, const Resolution &resolution) {
  TensorProjection projection;
  const ShardingRule::TensorFactors &factors = tensors.rule.tensor(tensor);
  for (ArrayRef<unsigned> dim : factors) {
    AxisProjection &list = projection.dims.emplace_back();
    for (unsigned factor : dim) // keepExpressible has removed the axes of hidden factors
      llvm::append_range(list, resolution.factors[factor]);
  }
  if (!factors.empty())
    projection.flat = resolution.flat;
  return projection;
}
