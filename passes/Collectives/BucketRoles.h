//===- BucketRoles.h - what a collective does for a training step -*- C++ -*-===//
//
// In the program of a rank, which collectives reduce gradients, gather parameters
// that have been updated, synchronise other state, or combine a number.  A tensor
// belongs to an argument when it becomes, element by element or as its part, the new
// value of that argument: the gradient of a parameter or of some of its rows, but
// neither the norm of all gradients nor what backward passes on.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_COLLECTIVES_BUCKETROLES_H
#define BRAID_PASSES_COLLECTIVES_BUCKETROLES_H

#include "dialects/Comm/Comm.h"
#include "dialects/TG/TG.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace braid {

/// Whether a value is a tensor without dims.
bool isNumber(mlir::Value value);

/// Whether an op's only result is its only operand, element by element, or a part of
/// it, or that with zeros around it.
bool movesElements(mlir::Operation *op);

enum class CollectiveRole {
  /// A reduction whose result updates a parameter, or what adds its gradients up.
  Gradient,
  /// A gathering of what a parameter is from now on.
  Update,
  /// A reduction whose result updates other state.
  State,
  /// A reduction of single numbers: loss, count, norm, whether to stop.
  Scalar,
};

class CollectiveRoles {
public:
  explicit CollectiveRoles(mlir::func::FuncOp function);

  /// None for collectives of activations and of stored parameters, and for those
  /// whose other side is in another function.
  std::optional<CollectiveRole> roleOf(comm::CollectiveOpInterface op) const;
  /// The argument that a value belongs to; for a sum of gradients its parameter.
  /// Null where there is none.
  mlir::BlockArgument argumentOf(mlir::Value value) const;

private:
  /// Gives `value` to an argument, unless it has a better one: a parameter, then the
  /// first.
  void give(mlir::Value value, unsigned argument);
  void giveOperands(mlir::Operation &op);
  bool isParameter(unsigned argument) const;
  bool isStoredParameter(mlir::Value value) const;

  /// Ops do not know const.
  mutable mlir::func::FuncOp function;
  llvm::StringMap<unsigned> arguments;
  llvm::StringMap<mlir::BlockArgument> parameters;
  llvm::DenseMap<mlir::Value, unsigned> belongsTo;
};

} // namespace braid

#endif // BRAID_PASSES_COLLECTIVES_BUCKETROLES_H
