//===- LanePatterns.h - sums over lanes that need no loop of their own ----*- C++ -*-===//
//
// Two sums over lanes, found by what the body of a kernel computes: one that the loop of a
// maximum can compute beside it, and one of which a single lane is not zero.  A generic is
// marked where code may make use of that (`exec-shorten-row-loops`).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_EXEC_LANEPATTERNS_H
#define BRAID_DIALECTS_EXEC_LANEPATTERNS_H

#include "dialects/Exec/Exec.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>

namespace braid::exec {

/// Unit attributes of a sum over lanes: it is computed beside its maximum; it is a load.
constexpr llvm::StringLiteral kOnline = "exec.online", kPicked = "exec.picked";

/// A value of the scalar body of a generic.
struct Scalar {
  mlir::Value value;
  mlir::linalg::GenericOp generic;
};

/// Where the value is that of another generic, which is computed for each element: that one.
Scalar follow(Scalar scalar);

/// In a reduction, what is combined with the old value; null for another generic.
mlir::Value contributionOf(mlir::linalg::GenericOp reduction);

/// A sum over lanes of exp(x - m), where m is the maximum of x over the same lanes.
struct ExponentialSum {
  /// The generics that compute m and the exponentials; the latter may be the sum itself.
  mlir::linalg::GenericOp maximum, exponential;
};
std::optional<ExponentialSum> findExponentialSum(mlir::linalg::GenericOp sum, int64_t lanes);

/// One lane of an operand.
struct PickedLane {
  mlir::BlockArgument operand;
  /// The dims of the space that index the operand.
  llvm::SmallVector<int64_t, 4> dims;
  /// Which lane; the sum is zero where there is no such lane.
  Scalar index;
};

/// For a sum over lanes of `lane == index ? operand : 0`, what it picks.
std::optional<PickedLane> findPickedLane(mlir::linalg::GenericOp sum, int64_t lanes);

} // namespace braid::exec

#endif // BRAID_DIALECTS_EXEC_LANEPATTERNS_H
