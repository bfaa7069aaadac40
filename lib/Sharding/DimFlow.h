//===- DimFlow.h - dims that ops link by factors ----------------*- C++ -*-===//
//
// A factor of a sharding rule links dims of an op's operands and results: they have the same indices. `FactorDims` are
// the dims that one op links; `DimFlow` follows links from op to op, forward and backward:
//
//   transpose, contract, gather   to the dims with the same factor
//   reshape that joins dims       to a part of the joined dim, and through a later reshape back to one dim
//   reshape that splits a dim     to each of the new dims
//
// A flow ends at
//
//   a tensor without the factor   where the dim is reduced, repeated, or names rows of a table
//   different factors             where an op mixes indices: slice, concat and pad along the dim, and dims of a reshape
//                                 whose sizes have no common divisor
//   an op without a rule
//   a factor that the user of the flow does not enter, such as one that must stay whole
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SHARDING_DIMFLOW_H
#define BRAID_LIB_SHARDING_DIMFLOW_H

#include "dialects/Interfaces/ShardingRule.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace braid {

/// The dims of an op's tensors that contain one factor; no value for a tensor without it.
struct FactorDims {
  ShardingRule rule;
  unsigned factor;
  llvm::SmallVector<std::optional<unsigned>> operands, results;

  static FactorDims along(ShardingRule rule, unsigned factor);
  /// Returns the dims linked to a dim of `value`, an operand or result of `op`, by the outermost of the dim's factors.
  /// Returns nothing if the op has no rule or the dim has a single index.
  static std::optional<FactorDims> through(mlir::Operation *op, mlir::Value value, unsigned dim);

  const Factor &getFactor() const { return rule.factors[factor]; }
  /// Returns whether the factor is the outermost in each of the dims, so that its chunks are slices.
  bool areOutermost() const;
  /// Returns whether each of the dims consists of this factor. Factors of size 1 do not count.
  bool areWhole() const;
};

/// Some of the indices of a dim or a factor, `number`: index i has the index i / inner % size of the part.
struct DimPart {
  unsigned number;
  int64_t inner, size;

  bool operator==(const DimPart &other) const {
    return number == other.number && inner == other.inner && size == other.size;
  }
};
using DimParts = llvm::SmallVector<DimPart, 2>;

/// Returns the parts of factors that a part of a tensor's dim consists of, minor to major. Returns nothing if the part
/// begins or ends within an index of a factor.
DimParts factorsOfPart(const ShardingRule &rule, const ShardingRule::TensorFactors &tensor, DimPart dim);

class DimFlow {
public:
  virtual ~DimFlow() = default;

  /// Adds a dim to start from.
  void start(mlir::Value value, unsigned dim);
  /// Follows all dims. Fails if `enter` or `reach` interrupts.
  llvm::LogicalResult run();
  void clear();

  /// Returns the parts of a value's dims that the flow has reached.
  llvm::ArrayRef<DimPart> partsOf(mlir::Value value) const;
  bool contains(mlir::Value value, unsigned dim) const;
  const llvm::MapVector<mlir::Value, DimParts> &getReached() const { return reached; }

  /// Returns the rule of an op. A request for a sharding links all dims.
  virtual std::optional<ShardingRule> ruleOf(mlir::Operation *op) const;

protected:
  /// Decides whether the flow enters an op, whose rule may be null, along parts of factors, and may remove some of
  /// them. By default it enters all.
  virtual mlir::WalkResult enter(mlir::Operation *op, const ShardingRule *rule, DimParts &factors);
  /// Decides whether the flow from `op` reaches a part of `value`.
  virtual mlir::WalkResult reach(mlir::Operation *op, mlir::Value value, DimPart part);

private:
  void add(mlir::Value value, DimPart part);
  llvm::LogicalResult visit(mlir::Operation *op);
  llvm::LogicalResult spread(mlir::Operation *op, const ShardingRule &rule, DimPart factor);

  llvm::MapVector<mlir::Value, DimParts> reached;
  llvm::SetVector<mlir::Operation *> work;
};

} // namespace braid

#endif // BRAID_LIB_SHARDING_DIMFLOW_H
