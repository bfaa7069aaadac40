//===- OpShardings.h - the sharding of an op, and its operands' --*- C++ -*-===//
//
// Propagation assigns a sharding to each value. The shardings of an op's tensors determine the factor axes of the op.
// These determine the shardings that the op needs of its operands, and the shardings in which it yields its results.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SHARDING_OPSHARDINGS_H
#define BRAID_LIB_SHARDING_OPSHARDINGS_H

#include "lib/Sharding/FactorAxes.h"
#include "llvm/ADT/DenseMap.h"

namespace braid {

/// Sharding that propagation assigned to each value.
using AssignedShardings = llvm::DenseMap<mlir::Value, comm::ShardingAttr>;

/// Shardings that an op needs of its operands, and those of the results that it yields.
struct OpShardings {
  llvm::SmallVector<comm::ShardingAttr> operands, results;
};

/// Returns the shardings; no value if the sharding of some tensor cannot express the axes of its factors.
std::optional<OpShardings> opShardingsOf(const ShardingRule &rule, const FactorAxes &axes,
                                         mlir::FlatSymbolRefAttr symbol, const comm::Mesh &mesh);

/// Chooses the factor axes of an op from the assigned shardings of its tensors: results
/// before operands, larger operands before smaller ones. An op on flat ranges computes little
/// per byte. It takes the sharding of one of its tensors if this moves less: a gradient moves
/// to its parameter and states rather than the other way round.
FactorAxes chooseAxes(mlir::Operation *op, const ShardingRule &rule, const AssignedShardings &assigned,
                      const comm::Mesh &mesh);

/// Returns whether an op has no operands and one result. Recomputing this result is cheaper than moving it.
bool isGenerator(mlir::Operation *op);

} // namespace braid

#endif // BRAID_LIB_SHARDING_OPSHARDINGS_H
