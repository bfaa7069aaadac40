//===- Timing.h - what is expected of a collective --------------*- C++ -*-===//
//
// The discardable attribute `comm.timing` of a collective that computing waits for
// at once, or of the comm.start of another, on values and in memory:
//
//   comm.timing = {predicted_s = 4.0e-05 : f64, exposed_s = 0.0 : f64, waits_for = "layer_norm_grad"}
//
// On a function or exec.program `predicted_s` is the time of the whole program.
// Reports print it; nothing is decided by it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_COMM_TIMING_H
#define BRAID_DIALECTS_COMM_TIMING_H

#include "dialects/Comm/Comm.h"
#include <optional>
#include <string>

namespace braid::comm {

inline constexpr llvm::StringLiteral kTiming = "comm.timing";
/// Of a program that a memory limit made slower: its timing if there were none.
inline constexpr llvm::StringLiteral kTimingWithoutLimit = "comm.timing_without_limit";

struct Timing {
  /// Seconds on the link, or of the program.
  double predicted = 0;
  /// Seconds that computing stalls at its wait; for a program, at all waits.
  double exposed = 0;
  /// The name of what its beginning waits for; empty for nothing.
  std::string waitsFor;

  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context) const;
};

/// What an op carries, if it does.
std::optional<Timing> timingOf(mlir::Operation *op, llvm::StringRef name = kTiming);

llvm::LogicalResult verifyTiming(mlir::Operation *op, mlir::Attribute attribute);

} // namespace braid::comm

#endif // BRAID_DIALECTS_COMM_TIMING_H
