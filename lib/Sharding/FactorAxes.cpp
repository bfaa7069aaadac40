//===- FactorAxes.cpp - an op's factors and its tensors' shardings --------===//

#include "lib/Sharding/FactorAxes.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

FactorAxes::FactorAxes(const ShardingRule &rule, MLIRContext *context)
    : factors(rule.factors.size(), AxesAttr::get(context)), flat(AxesAttr::get(context)) {}

bool braid::isShardable(const Factor &factor) { return factor.kind != FactorKind::Whole && !factor.decomposed; }

bool braid::runsFlat(const ShardingRule &rule) {
  return rule.flat && llvm::none_of(rule.factors, [](const Factor &factor) { return factor.decomposed; });
}

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

AxesAttr braid::inMeshOrder(AxesAttr a, AxesAttr b, const Mesh &mesh) {
  auto isIn = [&](StringAttr name) { return a.contains(name) || b.contains(name); };
  return AxesAttr::get(a.getContext(), llvm::to_vector(llvm::make_filter_range(mesh.getNames(), isIn)));
}

/// Distributes the axes of one dim to its factors, major to minor. A factor takes axes
/// while they divide its remaining size; the next factor takes axes only once that is 1.
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
    bool fullySharded = true;
    for (unsigned factor : dim) {
      AxesAttr axes = factors[factor];
      if (!axes.empty() && !fullySharded)
        return std::nullopt;
      llvm::append_range(names, axes.getNames());
      fullySharded &= rule.factors[factor].size == mesh.sizeOf(axes);
    }
    dims.push_back(AxesAttr::get(factors.front().getContext(), names));
  }
  return dims;
}

bool braid::fitsFlatRanges(const ShardingRule &rule, ArrayRef<int64_t> parts, int64_t ranges) {
  auto fits = [&](const ShardingRule::TensorFactors &tensor) {
    int64_t elements = 1;
    for (const ShardingRule::DimFactors &dim : tensor)
      for (unsigned factor : dim)
        elements *= rule.factors[factor].size / parts[factor];
    return tensor.empty() || elements % ranges == 0;
  };
  return !rule.unpadded || (llvm::all_of(rule.operands, fits) && llvm::all_of(rule.results, fits));
}

bool braid::fitsFlatRanges(const ShardingRule &rule, const FactorAxes &axes, const Mesh &mesh) {
  auto parts = llvm::map_to_vector(axes.factors, [&](AxesAttr list) { return mesh.sizeOf(list); });
  return fitsFlatRanges(rule, parts, mesh.sizeOf(axes.flat));
}

std::optional<ShardingAttr> braid::shardingOfTensor(const ShardingRule &rule, const ShardingRule::TensorFactors &tensor,
                                                    const FactorAxes &axes, bool isResult, FlatSymbolRefAttr symbol,
                                                    const Mesh &mesh) {
  if (!fitsFlatRanges(rule, axes, mesh))
    return std::nullopt;
  SmallVector<AxesAttr> dims;
  if (!tensor.empty()) {
    auto found = axesOfDims(rule, tensor, axes.factors, mesh);
    if (!found)
      return std::nullopt;
    dims = *found;
  }
  ShardingAttr sharding = ShardingAttr::replicated(symbol, tensor.size()).withDims(dims);
  if (!tensor.empty())
    sharding = sharding.withFlat(axes.flat);
  if (!isResult)
    return sharding;
  BitVector has(rule.factors.size());
  for (const ShardingRule::DimFactors &dim : tensor)
    for (unsigned factor : dim)
      has.set(factor);
  auto partial = AxesAttr::get(symbol.getContext());
  std::optional<Combine> combine;
  for (auto [index, factor] : llvm::enumerate(rule.factors)) {
    // Flat ranges shard every factor.
    bool isSharded = !axes.factors[index].empty() || (tensor.empty() && !axes.flat.empty());
    if (has[index] || !isSharded)
      continue;
    if (combine && *combine != factor.combine)
      return std::nullopt;
    combine = factor.combine;
    partial = inMeshOrder(partial, axes.factors[index], mesh);
  }
  if (!combine)
    return sharding;
  if (tensor.empty())
    partial = inMeshOrder(partial, axes.flat, mesh);
  return sharding.withPartial(partial, reductionOf(*combine));
}

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

static std::string nameOf(StringRef kind, unsigned index) { return (kind + " #" + Twine(index)).str(); }

/// Returns why the dims of one tensor do not fit the rule.
static std::string mismatch(const ShardingRule &rule, const ShardingRule::TensorFactors &tensor,
                            ArrayRef<AxesAttr> dims, const Mesh &mesh, StringRef name) {
  SmallVector<AxesAttr> factors(rule.factors.size());
  for (auto [index, dim] : llvm::enumerate(tensor)) {
    if (spread(rule, dim, dims[index], mesh, factors))
      continue;
    std::string where = ("dim " + Twine(index) + " of " + name + " is sharded over " + dims[index].str()).str();
    if (llvm::all_of(dim, [&](unsigned factor) { return isShardable(rule.factors[factor]); }) && !dim.empty())
      return where + ", which does not divide its factors into equal blocks";
    return where + ", but the op needs it whole";
  }
  llvm_unreachable("the tensor does not fit");
}

std::optional<FactorAxes> braid::factorAxesOf(const ShardingRule &rule, ArrayRef<ShardingAttr> operands,
                                              ArrayRef<ShardingAttr> results, const Mesh &mesh, std::string *why) {
  struct Origin {
    AxesAttr axes;
    std::string tensor;
  };
  SmallVector<Origin> known(rule.factors.size());
  Origin flat;
  MLIRContext *context = nullptr;
  auto fail = [&](const Twine &reason) {
    if (why)
      *why = reason.str();
    return false;
  };
  auto agree = [&](Origin &origin, AxesAttr axes, const std::string &tensor, StringRef what) {
    if (!origin.axes)
      origin = {axes, tensor};
    if (origin.axes == axes)
      return true;
    return fail(origin.tensor + " shards " + what + " over " + origin.axes.str() + ", but " + tensor + " over " +
                axes.str());
  };
  auto read = [&](StringRef kind, ArrayRef<ShardingRule::TensorFactors> tensors, ArrayRef<ShardingAttr> shardings) {
    for (auto [index, tensor] : llvm::enumerate(tensors)) {
      ShardingAttr sharding = shardings[index];
      context = sharding.getContext();
      std::string name = nameOf(kind, index);
      std::optional<SmallVector<AxesAttr>> axes = axesOfFactors(rule, tensor, sharding.getDims(), mesh);
      if (!axes)
        return fail(mismatch(rule, tensor, sharding.getDims(), mesh, name));
      for (auto [factor, own] : llvm::enumerate(*axes))
        if (own && !agree(known[factor], own, name, "the same factor"))
          return false;
      if (!tensor.empty() && !agree(flat, sharding.getFlat(), name, "its flat order"))
        return false;
    }
    return true;
  };
  if (!read("operand", rule.operands, operands) || !read("result", rule.results, results))
    return std::nullopt;
  FactorAxes axes;
  for (const Origin &origin : known)
    axes.factors.push_back(origin.axes ? origin.axes : AxesAttr::get(context));
  axes.flat = flat.axes ? flat.axes : AxesAttr::get(context);
  if (!axes.flat.empty() && !runsFlat(rule)) {
    fail(flat.tensor + " is sharded in flat ranges, but the op does not run on flat ranges");
    return std::nullopt;
  }
  if (!fitsFlatRanges(rule, axes, mesh)) {
    fail(flat.tensor + " is sharded in flat ranges over " + axes.flat.str() +
         ", but these ranges would split a block whose elements share one scale");
    return std::nullopt;
  }
  return axes;
}
