//===- ShardingRule.h - an op as an einsum over factors ---------*- C++ -*-===//
//
// A rule gives every dimension of every operand and result a list of factors,
// major to minor; the sizes of a dimension's factors multiply to its size.  A
// factor that appears in a result is parallel unless it is marked; one that
// appears in operands alone is reduced (sharding it leaves partial results).
// A factor marked `whole` cannot be sharded at all.  A result without a factor
// that an operand has holds partial values while that factor is sharded, even if
// the factor is parallel for another result (`attention_grad`: the query's
// sequence is parallel in dq and reduced in dk).
//
// Along a `positional` factor a value depends on where it stands (an iota's own
// dim, random numbers, a causal mask): a shard needs its offset.
//
// `contract "bsd,df->bsf"` has the factors b s d f, with d reduced;
// `reshape 6x4 -> 24` has factors 6 and 4, and the result's dim is [f0, f1].
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_INTERFACES_SHARDINGRULE_H
#define BRAID_DIALECTS_INTERFACES_SHARDINGRULE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>

namespace braid {

enum class FactorKind { Parallel, Reduced, Whole };

struct Factor {
  int64_t size;
  FactorKind kind;
  bool positional = false;
  char letter = 0; ///< Its name in `str`; chosen there when it has none.
};

struct ShardingRule {
  /// The factors of one dimension, major to minor; empty for a dim of size 1
  /// that belongs to no factor.
  using DimFactors = llvm::SmallVector<unsigned, 1>;
  using TensorFactors = llvm::SmallVector<DimFactors, 4>;

  llvm::SmallVector<Factor> factors;
  llvm::SmallVector<TensorFactors> operands, results;

  /// Adds a factor and returns its number.
  unsigned add(int64_t size, FactorKind kind = FactorKind::Parallel) {
    factors.push_back({size, kind});
    return factors.size() - 1;
  }

  /// The rule in the notation of docs: `b s d, d f -> b s f reduced d`.  Dims are
  /// apart, the factors of one dim together; `1` is a dim without factors and
  /// `()` a tensor without dims.
  std::string str() const;
};

/// Every operand and result has the same shape, dimension by dimension, or
/// rank 0: the rule of elementwise ops.
ShardingRule elementwiseRule(mlir::Operation *op);

/// The rule of `op` in the notation of `ShardingRule::str`, with the sizes taken
/// from its tensors.  `...` stands for the dims that a tensor has beyond those
/// named; the same everywhere.  A letter is reduced when no result has it; the
/// letters of `whole` and `positional` are marked so.
ShardingRule einsumRule(mlir::Operation *op, llvm::StringRef notation,
                        llvm::StringRef whole = "", llvm::StringRef positional = "");

/// The rule of a tensor read as another shape: the dims are cut into the factors
/// that both shapes have in common, where they have any.
ShardingRule reshapeRule(mlir::Operation *op);

/// The rule of any op: its interface's, or the elementwise one for ops with the
/// `ElementwiseMappable` trait and for constants; none for other ops.
std::optional<ShardingRule> shardingRuleOf(mlir::Operation *op);

} // namespace braid

#endif // BRAID_DIALECTS_INTERFACES_SHARDINGRULE_H
