//===- Replays.h - choices of --recompute=auto ------------------*- C++ -*-===//
#ifndef BRAID_COMPILER_REPORT_REPLAYS_H
#define BRAID_COMPILER_REPORT_REPLAYS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <string>
#include <vector>

namespace braid {

/// A choice of --recompute=auto, with its memory and time.
struct ReplayReport {
  /// Price of a second of replaying, in bytes; none if nothing is replayed.
  std::optional<double> bytesPerSecond;
  /// Number of units with this price; none for all units.
  std::optional<int64_t> units;
  /// Values that are kept or replayed regardless of the price, as `*/up: keep`.
  std::vector<std::string> values;
  int64_t arenaBytes, activationBytes;
  /// Predicted seconds of a step.
  double seconds;
  bool isChosen;
};

/// Prints a table that marks the chosen point, and a plot.
void printReplays(llvm::raw_ostream &stream, llvm::ArrayRef<ReplayReport> points);

} // namespace braid

#endif // BRAID_COMPILER_REPORT_REPLAYS_H
