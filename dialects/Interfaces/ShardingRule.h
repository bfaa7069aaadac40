//===- ShardingRule.h - an op as an einsum over factors ---------*- C++ -*-===//
//
// A rule gives every dimension of every operand and result a list of factors,
// major to minor; the sizes of a dimension's factors multiply to its size.  A
// factor that appears in a result is parallel unless it is marked; one that
// appears in operands alone is reduced (sharding it leaves partial results).
// A factor marked `whole` cannot be sharded in the op.  A result without a factor
// that an operand has holds partial values while that factor is sharded, even if
// the factor is parallel for another result (`attention_grad`: the query's
// sequence is parallel in dq and reduced in dk).
//
// Along a `positional` factor a value depends on where it stands (an iota's own
// dim, random numbers, rows of a table): a shard needs its offset.
//
// An op cannot run on a shard of a `decomposed` factor, but its decomposition
// can: softmax over lanes becomes reductions that are combined between ranks.  Such
// a factor is also `whole` where the op mixes what lies along it.
//
// `linear` lists sets of operands in which the op is linear while the others are
// fixed: partial sums (or means) of all of a set, and of none of the others, give
// partial results.
//
// `contract "bsd,df->bsf"` has the factors b s d f, with d reduced;
// `reshape 6x4 -> 24` has factors 6 and 4, and the result's dim is [f0, f1].
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_INTERFACES_SHARDINGRULE_H
#define BRAID_DIALECTS_INTERFACES_SHARDINGRULE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>

namespace braid {

enum class FactorKind { Parallel, Reduced, Whole };
/// How partial results of a sharded factor combine.
enum class Combine { Sum, Mean, Max, Min };

struct Factor {
  int64_t size;
  FactorKind kind;
  bool positional = false;
  bool decomposed = false;
  Combine combine = Combine::Sum; ///< Of results that lack the factor.
  char letter = 0;                ///< Its name in `str`; chosen there when it has none.
};

struct ShardingRule {
  /// The factors of one dimension, major to minor; empty for a dim of size 1
  /// that belongs to no factor.
  using DimFactors = llvm::SmallVector<unsigned, 1>;
  using TensorFactors = llvm::SmallVector<DimFactors, 4>;

  llvm::SmallVector<Factor> factors;
  llvm::SmallVector<TensorFactors> operands, results;
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>> linear;
  bool isZero() const {
    return llvm::any_of(linear, [](const auto &set) { return set.empty(); });
  }
  /// The op runs on flat ranges too: its tensors have the same elements in
  /// row-major order or rank 0, or it reduces all of one (see `Shard::flat`).  With
  /// decomposed factors its decomposition does.
  bool flat = false;
  /// With `flat`: some tensors have an element for each block of others, so ranges correspond
  /// where the number of ranks divides every tensor, and the op runs on no others.
  bool unpadded = false;

  /// Adds a factor and returns its number.
  unsigned add(int64_t size, FactorKind kind = FactorKind::Parallel) {
    factors.push_back({size, kind});
    return factors.size() - 1;
  }

  /// Adds a set of operands in which the op is linear; the empty one when its results
  /// are zero, and may count as partial sums.
  ShardingRule &linearIn(llvm::ArrayRef<unsigned> set) {
    linear.emplace_back(set.begin(), set.end());
    return *this;
  }

  /// The rule in the notation of docs: `b s d, d f -> b s f reduced d linear {0} {1}`.
  /// Dims are apart, the factors of one dim together; `1` is a dim without factors
  /// and `()` a tensor without dims.  What is marked follows: factors that are
  /// `reduced` (by sum, else `reduced max`), `whole`, `positional` and `decomposed`,
  /// the operand numbers of each `linear` set, and `flat`, or `flat unpadded`.
  std::string str() const;
};

/// Every operand and result has the same shape, dimension by dimension, or
/// rank 0: the rule of elementwise ops.
ShardingRule elementwiseRule(mlir::Operation *op);

/// The rule of `op` in the notation of `ShardingRule::str`, with the sizes taken
/// from its tensors.  `1` is a dim of any size without factors.  `...` stands for the dims that a tensor has beyond
/// those named; the same everywhere.  A letter is reduced when no result has it; the letters of `whole`, `positional`
/// and `decomposed` are marked so; `.` stands for all leading dims there.
ShardingRule einsumRule(mlir::Operation *op, llvm::StringRef notation, llvm::StringRef whole = "",
                        llvm::StringRef positional = "", llvm::StringRef decomposed = "");

/// The rule of a tensor read as another shape: the dims are split into the factors
/// that both shapes have in common, where they have any.
ShardingRule reshapeRule(mlir::Operation *op);

/// What an op is told when it is built for one shard.
struct Shard {
  /// On the rank's parts of the operands, and the types of its results.
  llvm::ArrayRef<mlir::Value> operands;
  llvm::ArrayRef<mlir::Type> resultTypes;
  /// The number of shards of each factor of the rule (1: whole).
  llvm::ArrayRef<int64_t> shardCounts;
  /// Operands and results are flat ranges, with one dim (or rank 0).
  bool flat = false;
  /// Where the rank's part of a factor starts: tensor<i32>.
  llvm::function_ref<mlir::Value(unsigned factor)> offset;
  /// A flat range with `fill` in place of the padding at the end of the tensor.
  llvm::function_ref<mlir::Value(mlir::Value range, double fill)> maskPadding;
};

/// The op on its shard, with the same attributes: right for every op whose
/// attributes say nothing of sharded dims.
llvm::SmallVector<mlir::Value> cloneOnShard(mlir::Operation *op, mlir::OpBuilder &builder, const Shard &shard);

/// The rule of any op: its interface's, or the elementwise one for ops with the
/// `ElementwiseMappable` trait and for constants; none for other ops.
std::optional<ShardingRule> shardingRuleOf(mlir::Operation *op);

} // namespace braid

#endif // BRAID_DIALECTS_INTERFACES_SHARDINGRULE_H
