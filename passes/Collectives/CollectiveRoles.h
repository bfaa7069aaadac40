//===- CollectiveRoles.h - role of a collective in a step -------*- C++ -*-===//
//
// Says which collectives in the program of a rank reduce gradients, gather updated parameters, synchronise
// other state, or combine a scalar. The role follows from the facts of the result tensors
// (dialects/TG/Facts.h).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_COLLECTIVES_COLLECTIVEROLES_H
#define BRAID_PASSES_COLLECTIVES_COLLECTIVEROLES_H

#include "dialects/Comm/Comm.h"
#include "dialects/TG/Facts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace braid {

enum class CollectiveRole {
  /// Reduces gradients, or values that are added up to gradients.
  Gradient,
  /// Gathers the new value of a parameter.
  Update,
  /// Reduces a value for the model's own state.
  State,
  /// Reduces scalars: loss, count, norm, whether to stop.
  Scalar,
};

/// Returns no role for collectives of activations and of stored parameters, and for collectives whose other
/// side is in another function.
std::optional<CollectiveRole> roleOf(comm::CollectiveOpInterface op);

/// Finds the argument of a program (parameter or state) that a tensor belongs to.
class TensorOwners {
public:
  explicit TensorOwners(mlir::func::FuncOp function);
  /// Returns the parameter, or the state without a parameter, that a tensor is computed for. Returns the first
  /// of several, and null if there is none.
  mlir::BlockArgument ownerOf(tg::FactsAttr facts) const;

private:
  llvm::StringMap<mlir::BlockArgument> owners;
};

} // namespace braid

#endif // BRAID_PASSES_COLLECTIVES_COLLECTIVEROLES_H
