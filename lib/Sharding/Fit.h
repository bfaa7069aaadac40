//===- Fit.h - how an op is sharded, and what it needs ----------*- C++ -*-===//
//
// Propagation assigns each value a sharding.  The shardings of an op's tensors decide
// how the op is sharded; that decides the shardings that it needs of its operands and
// those in which it yields its results.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SHARDING_FIT_H
#define BRAID_LIB_SHARDING_FIT_H

#include "lib/Sharding/FactorAxes.h"
#include "llvm/ADT/DenseMap.h"

namespace braid {

/// The sharding that propagation assigned to each value.
using AssignedShardings = llvm::DenseMap<mlir::Value, comm::ShardingAttr>;

/// The shardings that an op needs of its operands, and those of the results it yields.
struct Fit {
  llvm::SmallVector<comm::ShardingAttr> operands, results;
};

/// None where the sharding of some tensor cannot express the axes of its factors.
std::optional<Fit> fitOf(const ShardingRule &rule, const FactorAxes &axes, mlir::FlatSymbolRefAttr symbol,
                         const comm::Mesh &mesh);

/// The factor axes of an op, from the assigned shardings of its tensors: results before
/// operands, larger operands before smaller ones.  An op that runs on flat ranges
/// computes little for the bytes that it reads, so it is sharded as one of its tensors is
/// if that moves less: a gradient is moved to its parameter and states rather than the
/// other way round.
FactorAxes chooseAxes(mlir::Operation *op, const ShardingRule &rule, const AssignedShardings &assigned,
                      const comm::Mesh &mesh);

/// Whether an op computes its result from nothing: it is cheaper to compute it again
/// than to move it.
bool isGenerator(mlir::Operation *op);

} // namespace braid

#endif // BRAID_LIB_SHARDING_FIT_H
