//===- CollectiveRoles.h - what a collective does for a training step -*- C++ -*-===//
//
// In the program of a rank, which collectives reduce gradients, gather parameters that
// have been updated, synchronise other state, or combine a number: what the facts of the
// tensors say that they make (dialects/TG/Facts.h).
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
  /// A reduction of gradients, or of what adds them up.
  Gradient,
  /// A gathering of what a parameter is from now on.
  Update,
  /// A reduction for the model's own state.
  State,
  /// A reduction of single numbers: loss, count, norm, whether to stop.
  Scalar,
};

/// None for collectives of activations and of stored parameters, and for those whose other
/// side is in another function.
std::optional<CollectiveRole> roleOf(comm::CollectiveOpInterface op);

/// The arguments of a program that tensors belong to.
class TensorOwners {
public:
  explicit TensorOwners(mlir::func::FuncOp function);
  /// The parameter, or the state of no parameter, that a tensor is made for: the first of
  /// several.  Null where there is none.
  mlir::BlockArgument ownerOf(tg::FactsAttr facts) const;

private:
  llvm::StringMap<mlir::BlockArgument> owners;
};

} // namespace braid

#endif // BRAID_PASSES_COLLECTIVES_COLLECTIVEROLES_H
