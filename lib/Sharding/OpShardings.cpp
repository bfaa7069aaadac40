//===- OpShardings.cpp - the sharding of an op, and its operands' ---------===//

#include "lib/Sharding/OpShardings.h"
#include "lib/Sharding/Projection.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

bool braid::isGenerator(Operation *op) { return op && op->getNumOperands() == 0 && op->getNumResults() == 1; }

std::optional<OpShardings> braid::opShardingsOf(const ShardingRule &rule, const FactorAxes &axes,
                                                FlatSymbolRefAttr symbol, const Mesh &mesh) {
  OpShardings found;
  auto add = [&](const ShardingRule::TensorFactors &tensor, bool isResult, SmallVector<ShardingAttr> &list) {
    std::optional<ShardingAttr> sharding = shardingOfTensor(rule, tensor, axes, isResult, symbol, mesh);
    if (sharding)
      list.push_back(*sharding);
    return sharding.has_value();
  };
  bool isOk = llvm::all_of(rule.operands, [&](auto &tensor) { return add(tensor, false, found.operands); }) &&
              llvm::all_of(rule.results, [&](auto &tensor) { return add(tensor, true, found.results); });
  return isOk ? std::optional<OpShardings>(found) : std::nullopt;
}

static FactorAxes agreedAxes(Operation *op, const ShardingRule &rule, const AssignedShardings &assigned,
                             const Mesh &mesh) {
  SmallVector<TensorProjection> projections;
  for (Value operand : op->getOperands())
    projections.push_back(project(assigned.lookup(operand), mesh, 0));
  for (Value result : op->getResults())
    projections.push_back(project(assigned.lookup(result), mesh, 0));
  SmallVector<const TensorProjection *> proposing;
  for (auto [index, projection] : llvm::enumerate(projections)) {
    bool follows = index < op->getNumOperands() && isGenerator(op->getOperand(index).getDefiningOp());
    proposing.push_back(follows ? nullptr : &projection);
  }
  SmallVector<unsigned> bySize = llvm::to_vector(llvm::seq<unsigned>(0, op->getNumOperands()));
  llvm::stable_sort(bySize, [&](unsigned a, unsigned b) {
    auto elements = [&](unsigned i) { return cast<RankedTensorType>(op->getOperand(i).getType()).getNumElements(); };
    return elements(a) > elements(b);
  });
  SmallVector<int64_t> priorities(projections.size());
  for (auto [place, operand] : llvm::enumerate(bySize))
    priorities[operand] = op->getNumResults() + place;
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    priorities[op->getNumOperands() + i] = i;
  Resolution resolution = resolveConflicts(
      {rule, proposing, /*decomposable=*/false}, mesh,
      [&](unsigned tensor, ProjectedAxis) { return priorities[tensor]; }, [](unsigned, unsigned) { return false; });
  return factorAxes(resolution, mesh, op->getContext());
}

static int64_t bitsOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getNumElements() * type.getElementTypeBitWidth();
}

/// Returns whether a rank that holds its `source` part of a tensor thereby holds all of its `target` part.
static bool isFree(ShardingAttr source, ShardingAttr target) {
  if (source == target)
    return true;
  bool isRefinement = llvm::all_of(llvm::zip_equal(source.getDims(), target.getDims()), [](auto dims) {
    auto [from, to] = dims;
    return from.size() <= to.size() && from.getNames() == to.getNames().take_front(from.size());
  });
  return isRefinement && !source.isPartial() && !source.isFlat();
}

/// Estimates the bits that are sent if an op is sharded like this.
static int64_t bitsSent(Operation *op, const OpShardings &fit, const AssignedShardings &assigned) {
  int64_t bits = 0;
  for (auto [operand, need] : llvm::zip_equal(op->getOperands(), fit.operands))
    bits += isFree(assigned.lookup(operand), need) ? 0 : bitsOf(operand);
  for (auto [result, yields] : llvm::zip_equal(op->getResults(), fit.results))
    bits += isFree(yields, assigned.lookup(result)) ? 0 : bitsOf(result);
  return bits;
}

FactorAxes braid::chooseAxes(Operation *op, const ShardingRule &rule, const AssignedShardings &assigned,
                             const Mesh &mesh) {
  FactorAxes best = agreedAxes(op, rule, assigned, mesh);
  FlatSymbolRefAttr symbol = assigned.lookup(op->getResult(0)).getMesh();
  std::optional<OpShardings> found = opShardingsOf(rule, best, symbol, mesh);
  int64_t minBits = found ? bitsSent(op, *found, assigned) : 0;
  if (!runsFlat(rule) || minBits == 0)
    return best;
  auto hasAllFactors = [&](const ShardingRule::TensorFactors &tensor) {
    size_t factors = 0;
    for (ArrayRef<unsigned> dim : tensor)
      factors += dim.size();
    return factors == rule.factors.size();
  };
  auto attempt = [&](const ShardingRule::TensorFactors &tensor, ShardingAttr sharding) {
    std::optional<SmallVector<AxesAttr>> factors = axesOfFactors(rule, tensor, sharding.getDims(), mesh);
    if (!factors || !hasAllFactors(tensor))
      return;
    FactorAxes axes;
    axes.factors = *factors;
    axes.flat = sharding.getFlat();
    std::optional<OpShardings> other = opShardingsOf(rule, axes, symbol, mesh);
    if (int64_t bits = other ? bitsSent(op, *other, assigned) : minBits; bits < minBits) {
      minBits = bits;
      best = axes;
    }
  };
  for (auto [tensor, operand] : llvm::zip_equal(rule.operands, op->getOperands()))
    attempt(tensor, assigned.lookup(operand));
  for (auto [tensor, result] : llvm::zip_equal(rule.results, op->getResults()))
    attempt(tensor, assigned.lookup(result));
  return best;
}
