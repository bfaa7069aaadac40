//===- Claims.cpp - what the tensors of an op ask of its factors ----------===//

#include "lib/Sharding/Claims.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

static bool holds(const ClaimList &list, unsigned axis) {
  return llvm::any_of(list, [&](Claim claim) { return claim.axis == axis; });
}

bool TensorClaims::uses(unsigned axis) const {
  return holds(flat, axis) || llvm::any_of(dims, [&](const ClaimList &dim) { return holds(dim, axis); });
}

TensorClaims braid::claimsOf(ShardingAttr sharding, const Mesh &mesh, unsigned source) {
  auto read = [&](AxesAttr axes) {
    ClaimList list;
    for (StringAttr name : axes.getNames())
      list.push_back({static_cast<unsigned>(llvm::find(mesh.getNames(), name) - mesh.getNames().begin()), source});
    return list;
  };
  TensorClaims claims;
  for (AxesAttr dim : sharding.getDims())
    claims.dims.push_back(read(dim));
  claims.flat = read(sharding.getFlat());
  return claims;
}

AxesAttr braid::axesOf(const ClaimList &claims, const Mesh &mesh, MLIRContext *context) {
  SmallVector<StringAttr> names;
  for (Claim claim : claims)
    names.push_back(mesh.getNames()[claim.axis]);
  return AxesAttr::get(context, names);
}

FactorAxes braid::factorAxes(const Settlement &settled, const Mesh &mesh, MLIRContext *context) {
  FactorAxes axes;
  for (const ClaimList &factor : settled.factors)
    axes.factors.push_back(axesOf(factor, mesh, context));
  axes.flat = axesOf(settled.flat, mesh, context);
  return axes;
}

//===----------------------------------------------------------------------===//
// Collecting
//===----------------------------------------------------------------------===//

namespace {
/// Settles the claims on one op.
class Settler {
public:
  Settler(const Tensors &tensors, const Mesh &mesh, function_ref<int64_t(unsigned, Claim)> rankOf)
      : tensors(tensors), mesh(mesh), rankOf(rankOf), flatFactor(tensors.rule.factors.size()) {}

  Settlement run();

private:
  void collect(unsigned tensor);
  /// The axes of one dim as wishes on its factors.  Axes that the rule has no
  /// place for are no wishes: the tensor is resharded there.
  void collectDim(unsigned tensor, ArrayRef<unsigned> dim, const ClaimList &axes);
  /// Positions and ranks grow along a list: an axis behind another cannot win
  /// where the other loses.
  void wish(unsigned tensor, unsigned factor, Claim claim, unsigned position, int64_t &rank);
  void grant(const Wish &wish);
  void refuse(const Wish &wish, const Wish &winner);
  void keepExpressible();
  bool dropHidden(const ShardingRule::TensorFactors &dims);
  bool dropMixedPartials(const ShardingRule::TensorFactors &result);

  const Tensors &tensors;
  const Mesh &mesh;
  function_ref<int64_t(unsigned, Claim)> rankOf;
  unsigned flatFactor;
  SmallVector<Wish> wishes;
  /// The wishes granted to each factor; the flat order comes last.
  SmallVector<SmallVector<Wish, 2>> granted;
  /// By axis.
  SmallVector<std::optional<Wish>> holders;
  Settlement settled;
};
} // namespace

void Settler::wish(unsigned tensor, unsigned factor, Claim claim, unsigned position, int64_t &rank) {
  rank = std::max(rank, rankOf(tensor, claim));
  wishes.push_back({claim, factor, tensor, position, rank});
}

void Settler::collectDim(unsigned tensor, ArrayRef<unsigned> dim, const ClaimList &axes) {
  size_t next = 0;
  int64_t rank = 0;
  for (unsigned factor : dim) {
    int64_t left = tensors.rule.factors[factor].size;
    unsigned position = 0;
    while (next < axes.size() && tensors.canCut(factor) && left % mesh.getSizes()[axes[next].axis] == 0) {
      left /= mesh.getSizes()[axes[next].axis];
      wish(tensor, factor, axes[next++], position++, rank);
    }
    if (left > 1 || next == axes.size())
      return;
  }
}

void Settler::collect(unsigned tensor) {
  const TensorClaims *claims = tensors.claims[tensor];
  const ShardingRule::TensorFactors &factors = tensors.factorsOf(tensor);
  if (!claims || factors.empty())
    return;
  for (auto [dim, axes] : llvm::zip_equal(factors, claims->dims))
    collectDim(tensor, dim, axes);
  int64_t rank = 0;
  if (tensors.canCutFlat())
    for (auto [position, claim] : llvm::enumerate(claims->flat))
      wish(tensor, flatFactor, claim, position, rank);
}

//===----------------------------------------------------------------------===//
// Granting
//===----------------------------------------------------------------------===//

void Settler::refuse(const Wish &wish, const Wish &winner) {
  settled.contested = true;
  if (!settled.conflict && wish.rank == winner.rank && wish.claim.source != winner.claim.source)
    settled.conflict = {winner, wish};
}

void Settler::grant(const Wish &wish) {
  SmallVector<Wish, 2> &list = granted[wish.factor];
  if (wish.position < list.size()) {
    if (const Wish &winner = list[wish.position]; winner.claim.axis != wish.claim.axis)
      refuse(wish, winner);
    return;
  }
  if (wish.position > list.size())
    return; // the one before it was refused
  std::optional<Wish> &holder = holders[wish.claim.axis];
  if (holder)
    return refuse(wish, *holder);
  holder = wish;
  list.push_back(wish);
}

//===----------------------------------------------------------------------===//
// What tensors can say
//===----------------------------------------------------------------------===//

/// Drops the axes of factors that a more major factor of the same dim hides.
bool Settler::dropHidden(const ShardingRule::TensorFactors &dims) {
  bool changed = false;
  for (ArrayRef<unsigned> dim : dims) {
    bool cutToElements = true;
    for (unsigned factor : dim) {
      int64_t left = tensors.rule.factors[factor].size;
      if (!cutToElements && !granted[factor].empty()) {
        granted[factor].clear();
        changed = true;
      }
      for (const Wish &wish : granted[factor])
        left /= mesh.getSizes()[wish.claim.axis];
      cutToElements &= left == 1;
    }
  }
  return changed;
}

/// Drops the axes of factors along which a result's partial values would combine
/// otherwise than along the first.
bool Settler::dropMixedPartials(const ShardingRule::TensorFactors &result) {
  BitVector has(tensors.rule.factors.size());
  for (ArrayRef<unsigned> dim : result)
    for (unsigned factor : dim)
      has.set(factor);
  std::optional<Combine> combine;
  bool changed = false;
  for (auto [index, factor] : llvm::enumerate(tensors.rule.factors)) {
    if (has[index] || granted[index].empty())
      continue;
    if (combine && *combine != factor.combine) {
      granted[index].clear();
      changed = true;
    } else {
      combine = factor.combine;
    }
  }
  return changed;
}

void Settler::keepExpressible() {
  // Each round drops the axes of a factor, or is the last.
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned tensor = 0; tensor < tensors.claims.size(); ++tensor)
      changed |= dropHidden(tensors.factorsOf(tensor));
    for (const ShardingRule::TensorFactors &result : tensors.rule.results)
      changed |= dropMixedPartials(result);
  }
}

Settlement Settler::run() {
  for (unsigned tensor = 0; tensor < tensors.claims.size(); ++tensor)
    collect(tensor);
  llvm::stable_sort(wishes, [](const Wish &a, const Wish &b) {
    return std::tie(a.rank, a.factor, a.tensor, a.position) < std::tie(b.rank, b.factor, b.tensor, b.position);
  });
  granted.resize(flatFactor + 1);
  holders.resize(mesh.getSizes().size());
  for (const Wish &wish : wishes)
    grant(wish);
  keepExpressible();
  for (ArrayRef<Wish> list : granted)
    settled.factors.push_back(llvm::map_to_vector<2>(list, [](const Wish &wish) { return wish.claim; }));
  settled.flat = settled.factors.pop_back_val();
  return std::move(settled);
}

Settlement braid::settle(const Tensors &tensors, const Mesh &mesh, function_ref<int64_t(unsigned, Claim)> rankOf) {
  return Settler(tensors, mesh, rankOf).run();
}

TensorClaims braid::claimsOn(const Tensors &tensors, unsigned tensor, const Settlement &settled) {
  TensorClaims claims;
  const ShardingRule::TensorFactors &factors = tensors.factorsOf(tensor);
  for (ArrayRef<unsigned> dim : factors) {
    ClaimList &list = claims.dims.emplace_back();
    for (unsigned factor : dim) // hidden ones have none: see keepExpressible
      llvm::append_range(list, settled.factors[factor]);
  }
  if (!factors.empty())
    claims.flat = settled.flat;
  return claims;
}
