//===- Claims.h - what the tensors of an op ask of its factors --*- C++ -*-===//
//
// The axes of a tensor's dims are claims on the factors of every op that uses it.
// `settle` gives each factor of one op the axes that its tensors claim.  Claims on
// a factor agree when one is a prefix of the other; and an axis can cut one factor
// only.  Where claims disagree, the one of lower rank wins.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SHARDING_CLAIMS_H
#define BRAID_LIB_SHARDING_CLAIMS_H

#include "lib/Sharding/FactorAxes.h"

namespace braid {

/// One axis of a list, and the annotation that it stems from.
struct Claim {
  unsigned axis; ///< Its number in the mesh.
  unsigned source;
};

/// Of a dim or factor, major to minor.
using ClaimList = llvm::SmallVector<Claim, 2>;

/// Of a tensor.
struct TensorClaims {
  llvm::SmallVector<ClaimList, 4> dims;
  ClaimList flat;

  /// Whether some dim or the flat order is cut along an axis.
  bool uses(unsigned axis) const;
};

TensorClaims claimsOf(comm::ShardingAttr sharding, const comm::Mesh &mesh, unsigned source);

/// A rule with its tensors, operands first.
struct Tensors {
  const ShardingRule &rule;
  /// Null for tensors that follow and ask nothing.
  llvm::ArrayRef<const TensorClaims *> claims;
  /// Factors that must be decomposed can be cut too: the op will be.
  bool decomposable;

  const ShardingRule::TensorFactors &factorsOf(unsigned tensor) const {
    size_t operands = rule.operands.size();
    return tensor < operands ? rule.operands[tensor] : rule.results[tensor - operands];
  }
  bool canCut(unsigned factor) const {
    const Factor &it = rule.factors[factor];
    return it.decomposed ? decomposable : it.kind != FactorKind::Whole;
  }
  bool canCutFlat() const { return decomposable ? rule.flat : runsFlat(rule); }
};

/// A claim as a tensor makes it.
struct Wish {
  Claim claim;
  unsigned factor; ///< The number of factors for the flat order.
  unsigned tensor;
  unsigned position; ///< In the list.
  int64_t rank;
};

struct Settlement {
  llvm::SmallVector<ClaimList> factors;
  ClaimList flat;
  /// Some claim lost against another.
  bool contested = false;
  /// The first two claims of equal rank and different sources that disagree.
  std::optional<std::pair<Wish, Wish>> conflict;
};

/// `rankOf` a claim of a tensor; equal ranks of different sources conflict.
Settlement settle(const Tensors &tensors, const comm::Mesh &mesh,
                  llvm::function_ref<int64_t(unsigned tensor, Claim claim)> rankOf);

/// What a settlement means for one tensor.
TensorClaims claimsOn(const Tensors &tensors, unsigned tensor, const Settlement &settled);

/// A settlement in terms of attributes.
FactorAxes factorAxes(const Settlement &settled, const comm::Mesh &mesh, mlir::MLIRContext *context);
comm::AxesAttr axesOf(const ClaimList &claims, const comm::Mesh &mesh, mlir::MLIRContext *context);

} // namespace braid

#endif // BRAID_LIB_SHARDING_CLAIMS_H
