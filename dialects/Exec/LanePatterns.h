//===- LanePatterns.h - sums over lanes that need no loop of their own ----*- C++ -*-===//
//
// Finds two kinds of sums over lanes by the body of a kernel: sums that the loop of a
// maximum can compute at the same time, and sums with a single nonzero lane. A generic is
// marked if code may use this (`exec-shorten-row-loops`).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_EXEC_LANEPATTERNS_H
#define BRAID_DIALECTS_EXEC_LANEPATTERNS_H

#include "dialects/Exec/Exec.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>

namespace braid::exec {

/// Unit attributes of a sum over lanes: it is computed in the loop of its maximum; it is a load of one lane.
constexpr llvm::StringLiteral kOnline = "exec.online", kPicked = "exec.picked";

/// A value in the scalar body of a generic.
struct Scalar {
  mlir::Value value;
  mlir::linalg::GenericOp generic;
};

/// Follows a value to the generic that computes it for each element; returns other values unchanged.
Scalar follow(Scalar scalar);

/// Returns the value that a reduction combines with the old one; null for another generic.
mlir::Value contributionOf(mlir::linalg::GenericOp reduction);

/// A sum over lanes of exp(x - m), where m is the maximum of x over the same lanes.
struct ExponentialSum {
  /// The generics that compute m and the exponentials; the sum itself may compute the exponentials.
  mlir::linalg::GenericOp maximum, exponential;
};
std::optional<ExponentialSum> findExponentialSum(mlir::linalg::GenericOp sum, int64_t lanes);

/// One lane of an operand.
struct PickedLane {
  mlir::BlockArgument operand;
  /// Dims of the space that index the operand.
  llvm::SmallVector<int64_t, 4> dims;
  /// Index of the lane; the sum is zero if there is no such lane.
  Scalar index;
};

/// Returns the lane that a sum over lanes of `lane == index ? operand : 0` picks; no value for other sums.
std::optional<PickedLane> findPickedLane(mlir::linalg::GenericOp sum, int64_t lanes);

} // namespace braid::exec

#endif // BRAID_DIALECTS_EXEC_LANEPATTERNS_H
