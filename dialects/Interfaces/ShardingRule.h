//===- ShardingRule.h - an op as an einsum over factors ---------*- C++ -*-===//
//
// A rule gives every dimension of every operand and result a list of factors, major to
// minor. The sizes of a dimension's factors multiply to its size. A factor that appears
// in a result is parallel unless it is marked. A factor that appears in operands alone
// is reduced (sharding it leaves partial results). A factor marked `whole` cannot be
// sharded in the op. A result that lacks a factor of an operand holds partial values
// while that factor is sharded, even if the factor is parallel for another result
// (`attention_grad`: the query's sequence is parallel in dq and reduced in dk).
//
// Along a `positional` factor a value depends on its index (an iota's own dim, random
// numbers, rows of a table), so a shard needs its offset.
//
// An op cannot run on a shard of a `decomposed` factor, but its decomposition can: a
// softmax over lanes becomes reductions that are combined between ranks. Such a factor
// is also `whole` if the op mixes elements along it.
//
// `linear` lists sets of operands. The op is linear in a set while the other operands are fixed: if
// all operands of a set are partial sums (or means) and no others are, the results are partial, too.
//
// `contract "bsd,df->bsf"` has the factors b s d f, with d reduced; `reshape 6x4 -> 24`
// has factors 6 and 4, and the result's dim is [f0, f1].
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
/// How the partial results of a sharded factor are combined.
enum class Combine { Sum, Mean, Max, Min };

struct Factor {
  int64_t size;
  FactorKind kind;
  bool positional = false;
  bool decomposed = false;
  Combine combine = Combine::Sum; ///< For results that lack the factor.
  char letter = 0;                ///< Name of the factor in `str`, which picks one if this is 0.
};

struct ShardingRule {
  /// Factors of one dimension, major to minor; empty for a dim of size 1 without a factor.
  using DimFactors = llvm::SmallVector<unsigned, 1>;
  using TensorFactors = llvm::SmallVector<DimFactors, 4>;

  llvm::SmallVector<Factor> factors;
  llvm::SmallVector<TensorFactors> operands, results;
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>> linear;
  bool isZero() const {
    return llvm::any_of(linear, [](const auto &set) { return set.empty(); });
  }
  /// True if the op also runs on flat ranges: its tensors have the same elements in
  /// row-major order or rank 0, or it reduces all elements of one (see `Shard::flat`).
  /// With decomposed factors, its decomposition does.
  bool flat = false;
  /// Only with `flat`: some tensors have one element per block of others. Ranges then correspond
  /// only if the number of ranks divides every tensor, and the op runs on no other ranges.
  bool unpadded = false;

  /// Tensors are numbered: operands first, then results.
  unsigned numTensors() const { return operands.size() + results.size(); }
  const TensorFactors &tensor(unsigned number) const {
    return number < operands.size() ? operands[number] : results[number - operands.size()];
  }
  /// Returns the operand or result of an op with this number.
  static mlir::Value valueOf(mlir::Operation *op, unsigned tensor);
  /// Returns the dim of a tensor that contains a factor.
  static std::optional<unsigned> dimOfFactor(const TensorFactors &tensor, unsigned factor);

  /// Adds a factor and returns its number.
  unsigned add(int64_t size, FactorKind kind = FactorKind::Parallel) {
    factors.push_back({size, kind});
    return factors.size() - 1;
  }

  /// Adds a set of operands in which the op is linear. The empty set means that its
  /// results are zero and may count as partial sums.
  ShardingRule &linearIn(llvm::ArrayRef<unsigned> set) {
    linear.emplace_back(set.begin(), set.end());
    return *this;
  }

  /// Returns the rule in the notation of docs: `b s d, d f -> b s f reduced d linear
  /// {0} {1}`. Dims are separated by spaces, the factors of one dim are not; `1` is a
  /// dim without factors and `()` a tensor without dims. Marks follow: factors that are
  /// `reduced` (by sum, else `reduced max`), `whole`, `positional` and `decomposed`,
  /// the operand numbers of each `linear` set, and `flat`, or `flat unpadded`.
  std::string str() const;
};

/// Returns the rule of elementwise ops: every operand and result has the same shape, or rank 0.
ShardingRule elementwiseRule(mlir::Operation *op);

/// Returns the rule of `op` in the notation of `ShardingRule::str`, with the sizes of its tensors. `1` is a dim of
/// any size without factors. `...` stands for the dims that a tensor has beyond the named ones, and is the same
/// everywhere. A letter is reduced if no result has it. The letters of `whole`, `positional` and `decomposed` get
/// these marks; `.` there stands for all leading dims.
ShardingRule einsumRule(mlir::Operation *op, llvm::StringRef notation, llvm::StringRef whole = "",
                        llvm::StringRef positional = "", llvm::StringRef decomposed = "");

/// Returns the rule of a reshape: the dims are split into the factors that both shapes have in common, if any.
ShardingRule reshapeRule(mlir::Operation *op);

/// Inputs for building an op on one shard.
struct Shard {
  /// The rank's parts of the operands, and the types of its results.
  llvm::ArrayRef<mlir::Value> operands;
  llvm::ArrayRef<mlir::Type> resultTypes;
  /// Number of shards of each factor of the rule; 1 means whole.
  llvm::ArrayRef<int64_t> shardCounts;
  /// True if operands and results are flat ranges, with one dim (or rank 0).
  bool flat = false;
  /// Returns the offset of the rank's part of a factor, a tensor<i32>.
  llvm::function_ref<mlir::Value(unsigned factor)> offset;
  /// Returns a flat range with `fill` instead of the padding at the end of the tensor.
  llvm::function_ref<mlir::Value(mlir::Value range, double fill)> maskPadding;
};

/// Clones the op on its shard with the same attributes, which is right for every op
/// whose attributes do not depend on sharded dims.
llvm::SmallVector<mlir::Value> cloneOnShard(mlir::Operation *op, mlir::OpBuilder &builder, const Shard &shard);

/// Builds the op on its shard: by its interface or, without one, as a clone.
llvm::SmallVector<mlir::Value> buildOnShard(mlir::Operation *op, mlir::OpBuilder &builder, const Shard &shard);

/// Returns the rule of any op: from its interface, or the elementwise rule for ops with
/// the `ElementwiseMappable` trait and for constants. No value for other ops.
std::optional<ShardingRule> shardingRuleOf(mlir::Operation *op);

} // namespace braid

#endif // BRAID_DIALECTS_INTERFACES_SHARDINGRULE_H
