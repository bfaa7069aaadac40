//===- Replays.h - what --recompute=auto chose from --------------*- C++ -*-===//
#ifndef BRAID_LIB_REPORT_REPLAYS_H
#define BRAID_LIB_REPORT_REPLAYS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <string>
#include <vector>

namespace braid {

/// A point of bytes against time.
struct ReplayReport {
  /// What a second of replaying is worth; none where nothing is replayed.
  std::optional<double> bytesPerSecond;
  /// In how many units, where not in all.
  std::optional<int64_t> units;
  /// The values that are kept or replayed against that, as `*/up: keep`.
  std::vector<std::string> values;
  int64_t arenaBytes, activationBytes;
  /// A step, as predicted.
  double seconds;
  bool isChosen;
};

/// A table with a mark at the point that was chosen, and a plot.
void printReplays(llvm::raw_ostream &stream, llvm::ArrayRef<ReplayReport> points);

} // namespace braid

#endif // BRAID_LIB_REPORT_REPLAYS_H
