//===- Timing.h - predicted times of a collective ---------------*- C++ -*-===//
//
// The discardable attribute `comm.timing`, on values and in memory. A collective carries it if
// computation waits for it at once; otherwise its comm.start carries it:
//
//   comm.timing = {predicted_s = 4.0e-05 : f64, exposed_s = 0.0 : f64, waits_for = "layer_norm_grad"}
//
// On a function or exec.program, `predicted_s` is the time of the whole program. Reports print the
// attribute; no pass depends on it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_COMM_TIMING_H
#define BRAID_DIALECTS_COMM_TIMING_H

#include "dialects/Comm/Comm.h"
#include <optional>
#include <string>

namespace braid::comm {

inline constexpr llvm::StringLiteral kTiming = "comm.timing";
/// Attribute of a program that a memory limit made slower: its timing without the limit.
inline constexpr llvm::StringLiteral kTimingWithoutLimit = "comm.timing_without_limit";

struct Timing {
  /// Seconds on the link, or of the whole program.
  double predicted = 0;
  /// Seconds for which the collective's wait stalls computation; for a program, the sum over all waits.
  double exposed = 0;
  /// Name of the action that the start waits for; empty if there is none.
  std::string waitsFor;

  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context) const;
};

/// Returns the timing of an op; no value if it has none.
std::optional<Timing> timingOf(mlir::Operation *op, llvm::StringRef name = kTiming);

llvm::LogicalResult verifyTiming(mlir::Operation *op, mlir::Attribute attribute);

} // namespace braid::comm

#endif // BRAID_DIALECTS_COMM_TIMING_H
