//===- FactorAxes.h - an op's factors and its tensors' shardings -*- C++ -*-===//
//
// A sharding rule splits dims into factors, major to minor. To shard an op, each factor
// gets a list of axes. They determine the shardings of its operands and results.
// Conversely, shardings that fit the rule determine the axes.
//
// A dim with the factors [f0, f1] is sharded in equal blocks, so f1 can be sharded only
// once the blocks of f0 are single elements.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SHARDING_FACTORAXES_H
#define BRAID_LIB_SHARDING_FACTORAXES_H

#include "dialects/Comm/Sharding.h"
#include "dialects/Interfaces/ShardingRule.h"

namespace braid {

/// Axes of each factor of a rule, and the axes that shard the rest of the tensors in flat ranges.
struct FactorAxes {
  llvm::SmallVector<comm::AxesAttr> factors;
  comm::AxesAttr flat;

  FactorAxes() = default;
  /// Starts without axes.
  FactorAxes(const ShardingRule &rule, mlir::MLIRContext *context);

  bool operator==(const FactorAxes &) const = default;
};

/// Returns whether a factor can be sharded without decomposing the op.
bool isShardable(const Factor &factor);
/// Returns whether the op runs on flat ranges without being decomposed.
bool runsFlat(const ShardingRule &rule);

/// Projects the axes of one tensor's dims onto the factors; the axes are null for factors that the
/// tensor lacks. No value if an axis would span several factors or shard one that is not shardable.
std::optional<llvm::SmallVector<comm::AxesAttr>> axesOfFactors(const ShardingRule &rule,
                                                               const ShardingRule::TensorFactors &tensor,
                                                               llvm::ArrayRef<comm::AxesAttr> dims,
                                                               const comm::Mesh &mesh);

/// Returns whether the op accepts `ranges` flat ranges, if factor i has parts[i] parts. An
/// `unpadded` rule needs equal ranges of each tensor.
bool fitsFlatRanges(const ShardingRule &rule, llvm::ArrayRef<int64_t> parts, int64_t ranges);
bool fitsFlatRanges(const ShardingRule &rule, const FactorAxes &axes, const comm::Mesh &mesh);

/// Returns the axes of a tensor's dims; no value if the factors' axes do not shard a dim in equal blocks.
std::optional<llvm::SmallVector<comm::AxesAttr>> axesOfDims(const ShardingRule &rule,
                                                            const ShardingRule::TensorFactors &tensor,
                                                            llvm::ArrayRef<comm::AxesAttr> factors,
                                                            const comm::Mesh &mesh);

/// Returns the sharding that an op with these factor axes needs of a tensor. A result has partial values
/// along the axes of shardable factors that it lacks. No value if `axesOfDims` has none, if flat ranges do
/// not fit, or if partial values would have to be combined in two ways.
std::optional<comm::ShardingAttr> shardingOfTensor(const ShardingRule &rule, const ShardingRule::TensorFactors &tensor,
                                                   const FactorAxes &axes, bool isResult,
                                                   mlir::FlatSymbolRefAttr symbol, const comm::Mesh &mesh);

/// Returns the factor axes from which the shardings of all operands and results follow,
/// apart from partial values. If the shardings do not fit the rule or each other,
/// returns no value and sets `why` to the reason.
std::optional<FactorAxes> factorAxesOf(const ShardingRule &rule, llvm::ArrayRef<comm::ShardingAttr> operands,
                                       llvm::ArrayRef<comm::ShardingAttr> results, const comm::Mesh &mesh,
                                       std::string *why = nullptr);

/// Returns the union of two lists in mesh order; partial values are along a set of axes.
comm::AxesAttr inMeshOrder(comm::AxesAttr a, comm::AxesAttr b, const comm::Mesh &mesh);

/// Returns the dialect's reduction for combining partial values.
comm::Reduction reductionOf(Combine combine);

} // namespace braid

#endif // BRAID_LIB_SHARDING_FACTORAXES_H
