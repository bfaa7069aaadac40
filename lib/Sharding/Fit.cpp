//===- Fit.cpp - how an op is cut, and what its tensors must be -----------===//

#include "lib/Sharding/Fit.h"
#include "lib/Sharding/Claims.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

bool braid::isGenerator(Operation *op) { return op && op->getNumOperands() == 0 && op->getNumResults() == 1; }

std::optional<Fit> braid::fitOf(const ShardingRule &rule, const FactorAxes &axes, FlatSymbolRefAttr symbol,
                                const Mesh &mesh) {
  Fit found;
  auto add = [&](const ShardingRule::TensorFactors &tensor, bool isResult, SmallVector<ShardingAttr> &list) {
    std::optional<ShardingAttr> sharding = shardingOfTensor(rule, tensor, axes, isResult, symbol, mesh);
    if (sharding)
      list.push_back(*sharding);
    return sharding.has_value();
  };
  bool isOk = llvm::all_of(rule.operands, [&](auto &tensor) { return add(tensor, false, found.operands); }) &&
              llvm::all_of(rule.results, [&](auto &tensor) { return add(tensor, true, found.results); });
  return isOk ? std::optional<Fit>(found) : std::nullopt;
}

static FactorAxes agreedAxes(Operation *op, const ShardingRule &rule, const Homes &homes, const Mesh &mesh) {
  SmallVector<TensorClaims> claims;
  for (Value operand : op->getOperands())
    claims.push_back(claimsOf(homes.lookup(operand), mesh, 0));
  for (Value result : op->getResults())
    claims.push_back(claimsOf(homes.lookup(result), mesh, 0));
  SmallVector<const TensorClaims *> asking;
  for (auto [index, claim] : llvm::enumerate(claims)) {
    bool follows = index < op->getNumOperands() && isGenerator(op->getOperand(index).getDefiningOp());
    asking.push_back(follows ? nullptr : &claim);
  }
  SmallVector<unsigned> bySize = llvm::to_vector(llvm::seq<unsigned>(0, op->getNumOperands()));
  llvm::stable_sort(bySize, [&](unsigned a, unsigned b) {
    auto elements = [&](unsigned i) { return cast<RankedTensorType>(op->getOperand(i).getType()).getNumElements(); };
    return elements(a) > elements(b);
  });
  SmallVector<int64_t> order(claims.size());
  for (auto [place, operand] : llvm::enumerate(bySize))
    order[operand] = op->getNumResults() + place;
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    order[op->getNumOperands() + i] = i;
  Settlement settled =
      settle({rule, asking, /*decomposable=*/false}, mesh, [&](unsigned tensor, Claim) { return order[tensor]; });
  return factorAxes(settled, mesh, op->getContext());
}

static int64_t bitsOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getNumElements() * type.getElementTypeBitWidth();
}

/// Whether a rank that holds `source` has all of `target`.
static bool isFree(ShardingAttr source, ShardingAttr target) {
  if (source == target)
    return true;
  bool isCut = llvm::all_of(llvm::zip_equal(source.getDims(), target.getDims()), [](auto dims) {
    auto [from, to] = dims;
    return from.size() <= to.size() && from.getNames() == to.getNames().take_front(from.size());
  });
  return isCut && !source.isPartial() && !source.isFlat();
}

/// What is sent, about, when an op is cut so.
static int64_t bitsMoved(Operation *op, const Fit &fit, const Homes &homes) {
  int64_t bits = 0;
  for (auto [operand, need] : llvm::zip_equal(op->getOperands(), fit.operands))
    bits += isFree(homes.lookup(operand), need) ? 0 : bitsOf(operand);
  for (auto [result, yields] : llvm::zip_equal(op->getResults(), fit.results))
    bits += isFree(yields, homes.lookup(result)) ? 0 : bitsOf(result);
  return bits;
}

FactorAxes braid::chooseAxes(Operation *op, const ShardingRule &rule, const Homes &homes, const Mesh &mesh) {
  FactorAxes best = agreedAxes(op, rule, homes, mesh);
  FlatSymbolRefAttr symbol = homes.lookup(op->getResult(0)).getMesh();
  std::optional<Fit> found = fitOf(rule, best, symbol, mesh);
  int64_t least = found ? bitsMoved(op, *found, homes) : 0;
  if (!runsFlat(rule) || least == 0)
    return best;
  auto hasAllFactors = [&](const ShardingRule::TensorFactors &tensor) {
    size_t factors = 0;
    for (ArrayRef<unsigned> dim : tensor)
      factors += dim.size();
    return factors == rule.factors.size();
  };
  auto attempt = [&](const ShardingRule::TensorFactors &tensor, ShardingAttr home) {
    std::optional<SmallVector<AxesAttr>> factors = axesOfFactors(rule, tensor, home.getDims(), mesh);
    if (!factors || !hasAllFactors(tensor))
      return;
    FactorAxes axes;
    axes.factors = *factors;
    axes.flat = home.getFlat();
    std::optional<Fit> other = fitOf(rule, axes, symbol, mesh);
    if (int64_t bits = other ? bitsMoved(op, *other, homes) : least; bits < least) {
      least = bits;
      best = axes;
    }
  };
  for (auto [tensor, operand] : llvm::zip_equal(rule.operands, op->getOperands()))
    attempt(tensor, homes.lookup(operand));
  for (auto [tensor, result] : llvm::zip_equal(rule.results, op->getResults()))
    attempt(tensor, homes.lookup(result));
  return best;
}
