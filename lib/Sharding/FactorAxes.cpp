//===- FactorAxes.cpp - an op's factors and its tensors' shardings --------===//

#include "lib/Sharding/FactorAxes.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

FactorAxes::FactorAxes(const ShardingRule &rule, MLIRContext *context)
    : factors(rule.factors.size(), AxesAttr::get(context)), flat(AxesAttr::get(context)) {}

bool braid::isShardable(const Factor &factor) { return factor.kind != FactorKind::Whole && !factor.decomposed; }

Reduction braid::reductionOf(Combine combine) {
  switch (combine) {
  case Combine::Sum:
    return Reduction::Sum;
  case Combine::Mean:
    return Reduction::Mean;
  case Combine::Max:
    return Reduction::Max;
  case Combine::Min:
    return Reduction::Min;
  }
  llvm_unreachable("all kinds are named");
}

/// Gives the axes of one dim to its factors, major to minor: a factor takes axes
/// while they divide what is left of it, and the next one only when nothing is.
static bool spread(const ShardingRule &rule, ArrayRef<unsigned> dim, AxesAttr axes, const Mesh &mesh,
                   MutableArrayRef<AxesAttr> factors) {
  ArrayRef<StringAttr> names = axes.getNames();
  for (unsigned factor : dim) {
    int64_t left = rule.factors[factor].size;
    SmallVector<StringAttr> taken;
    while (!names.empty() && left % mesh.sizeOf(names.front()) == 0) {
      left /= mesh.sizeOf(names.front());
      taken.push_back(names.front());
      names = names.drop_front();
    }
    if (!taken.empty() && !isShardable(rule.factors[factor]))
      return false;
    factors[factor] = AxesAttr::get(axes.getContext(), taken);
    if (left > 1)
      break;
  }
  return names.empty();
}

std::optional<SmallVector<AxesAttr>> braid::axesOfFactors(const ShardingRule &rule,
                                                          const ShardingRule::TensorFactors &tensor,
                                                          ArrayRef<AxesAttr> dims, const Mesh &mesh) {
  SmallVector<AxesAttr> factors(rule.factors.size());
  for (auto [dim, axes] : llvm::zip_equal(tensor, dims)) {
    for (unsigned factor : dim)
      factors[factor] = AxesAttr::get(axes.getContext());
    if (!spread(rule, dim, axes, mesh, factors))
      return std::nullopt;
  }
  return factors;
}

std::optional<SmallVector<AxesAttr>> braid::axesOfDims(const ShardingRule &rule,
                                                       const ShardingRule::TensorFactors &tensor,
                                                       ArrayRef<AxesAttr> factors, const Mesh &mesh) {
  SmallVector<AxesAttr> dims;
  for (const ShardingRule::DimFactors &dim : tensor) {
    SmallVector<StringAttr> names;
    bool cutToElements = true;
    for (unsigned factor : dim) {
      AxesAttr axes = factors[factor];
      if (!axes.empty() && !cutToElements)
        return std::nullopt;
      llvm::append_range(names, axes.getNames());
      cutToElements &= rule.factors[factor].size == mesh.sizeOf(axes);
    }
    dims.push_back(AxesAttr::get(factors.front().getContext(), names));
  }
  return dims;
}

std::optional<ShardingAttr> braid::shardingOfTensor(const ShardingRule &rule, const ShardingRule::TensorFactors &tensor,
                                                    const FactorAxes &axes, bool isResult, FlatSymbolRefAttr symbol,
                                                    const Mesh &mesh) {
  auto replicated = ShardingAttr::replicated(symbol, tensor.size());
  if (!axes.flat.empty()) {
    if (!tensor.empty())
      return replicated.withFlat(axes.flat);
    return isResult ? replicated.withPartial(axes.flat, reductionOf(rule.factors.front().combine)) : replicated;
  }
  SmallVector<AxesAttr> dims;
  if (!tensor.empty()) {
    auto found = axesOfDims(rule, tensor, axes.factors, mesh);
    if (!found)
      return std::nullopt;
    dims = *found;
  }
  ShardingAttr sharding = replicated.withDims(dims);
  if (!isResult)
    return sharding;
  BitVector has(rule.factors.size());
  for (const ShardingRule::DimFactors &dim : tensor)
    for (unsigned factor : dim)
      has.set(factor);
  SmallVector<StringAttr> partial;
  std::optional<Combine> combine;
  for (auto [index, factor] : llvm::enumerate(rule.factors)) {
    if (has[index] || axes.factors[index].empty())
      continue;
    if (combine && *combine != factor.combine)
      return std::nullopt;
    combine = factor.combine;
    llvm::append_range(partial, axes.factors[index].getNames());
  }
  if (partial.empty())
    return sharding;
  return sharding.withPartial(AxesAttr::get(symbol.getContext(), partial), reductionOf(*combine));
}
