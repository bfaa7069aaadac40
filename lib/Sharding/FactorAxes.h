//===- FactorAxes.h - an op's factors and its tensors' shardings -*- C++ -*-===//
//
// A sharding rule splits dims into factors, major to minor.  Sharding an op means
// to give each factor a list of axes; the shardings of its operands and results
// follow from that, and, where they fit the rule, it follows from them.
//
// A dim with the factors [f0, f1] is sharded in equal blocks, so f1 can be
// sharded only once the blocks of f0 are single elements.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SHARDING_FACTORAXES_H
#define BRAID_LIB_SHARDING_FACTORAXES_H

#include "dialects/Comm/Sharding.h"
#include "dialects/Interfaces/ShardingRule.h"

namespace braid {

/// The axes of each factor of a rule; and those along which the parts of its tensors that
/// the factors leave are sharded in flat ranges.
struct FactorAxes {
  llvm::SmallVector<comm::AxesAttr> factors;
  comm::AxesAttr flat;

  FactorAxes() = default;
  /// No axes.
  FactorAxes(const ShardingRule &rule, mlir::MLIRContext *context);

  bool operator==(const FactorAxes &) const = default;
};

/// Whether a factor can be sharded as the op stands.
bool isShardable(const Factor &factor);
/// Whether the op runs on flat ranges as it stands.
bool runsFlat(const ShardingRule &rule);

/// Projects the axes of one tensor's dims onto the factors: for each factor its axes (null
/// for factors that the tensor does not have).  None when an axis would lie across
/// factors or shard one that is not shardable.
std::optional<llvm::SmallVector<comm::AxesAttr>> axesOfFactors(const ShardingRule &rule,
                                                               const ShardingRule::TensorFactors &tensor,
                                                               llvm::ArrayRef<comm::AxesAttr> dims,
                                                               const comm::Mesh &mesh);

/// Whether so many flat ranges of parts, of which each factor has so many, are what the op takes:
/// an `unpadded` one wants equal ranges of each tensor.
bool fitsFlatRanges(const ShardingRule &rule, llvm::ArrayRef<int64_t> parts, int64_t ranges);
bool fitsFlatRanges(const ShardingRule &rule, const FactorAxes &axes, const comm::Mesh &mesh);

/// The axes of a tensor's dims, or none when the factors' axes shard a dim
/// otherwise than in equal blocks.
std::optional<llvm::SmallVector<comm::AxesAttr>> axesOfDims(const ShardingRule &rule,
                                                            const ShardingRule::TensorFactors &tensor,
                                                            llvm::ArrayRef<comm::AxesAttr> factors,
                                                            const comm::Mesh &mesh);

/// The sharding that an op with these factor axes needs of a tensor; for a result
/// it has partial values along the axes of shardable factors that it lacks.
/// None where `axesOfDims` has none, where flat ranges do not fit, or where partial values would have to be
/// combined in two ways.
std::optional<comm::ShardingAttr> shardingOfTensor(const ShardingRule &rule, const ShardingRule::TensorFactors &tensor,
                                                   const FactorAxes &axes, bool isResult,
                                                   mlir::FlatSymbolRefAttr symbol, const comm::Mesh &mesh);

/// The factor axes that shardings of all operands and results, partial values
/// aside, follow from; none, and in `why` the reason, where they do not fit the
/// rule or one another.
std::optional<FactorAxes> factorAxesOf(const ShardingRule &rule, llvm::ArrayRef<comm::ShardingAttr> operands,
                                       llvm::ArrayRef<comm::ShardingAttr> results, const comm::Mesh &mesh,
                                       std::string *why = nullptr);

/// The axes of either list: partial values are along a set of axes.
comm::AxesAttr inMeshOrder(comm::AxesAttr a, comm::AxesAttr b, const comm::Mesh &mesh);

/// How partial values combine, as the dialect names it.
comm::Reduction reductionOf(Combine combine);

} // namespace braid

#endif // BRAID_LIB_SHARDING_FACTORAXES_H
