//===- Fit.h - how an op is cut, and what its tensors must be ---*- C++ -*-===//
//
// Each value has a home, the sharding that it is kept in.  The homes of an op's
// tensors decide how the op is cut; how it is cut decides what it needs of its
// operands and how it yields its results.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SHARDING_FIT_H
#define BRAID_LIB_SHARDING_FIT_H

#include "lib/Sharding/FactorAxes.h"
#include "llvm/ADT/DenseMap.h"

namespace braid {

using Homes = llvm::DenseMap<mlir::Value, comm::ShardingAttr>;

/// What an op needs of its operands, and yields.
struct Fit {
  llvm::SmallVector<comm::ShardingAttr> operands, results;
};

/// None where some tensor cannot say the axes.
std::optional<Fit> fitOf(const ShardingRule &rule, const FactorAxes &axes, mlir::FlatSymbolRefAttr symbol,
                         const comm::Mesh &mesh);

/// The factor axes of an op by the homes of its tensors: results before operands,
/// larger operands before smaller ones.  An op that runs on flat ranges computes
/// little for what it reads; it is cut as one of its tensors is if that moves less:
/// a gradient is moved to its parameter and states, not they to it.
FactorAxes chooseAxes(mlir::Operation *op, const ShardingRule &rule, const Homes &homes, const comm::Mesh &mesh);

/// An op that makes its values from nothing: it is cheaper to make them again than
/// to move them.
bool isGenerator(mlir::Operation *op);

} // namespace braid

#endif // BRAID_LIB_SHARDING_FIT_H
