//===- Progress.h - how training goes, for people -------------------------===//
//
// On a terminal one line, which is refreshed and never longer than the terminal is wide;
// elsewhere a line about fifty times a run, and every 30 seconds at least.  Rates are means
// since the line before.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TRAIN_PROGRESS_H
#define BRAID_TRAIN_PROGRESS_H

#include "train/Metrics.h"

#include <cstdint>
#include <string>
#include <vector>

namespace braid {

// A part of the line, which may give way where there is no room for all.
struct ProgressField {
  std::string text;
  int givesWay; // the highest number first; 0: never
};

// The fields in order, in at most `width` columns.
std::string fitLine(std::vector<ProgressField> fields, size_t width);

// The columns of the terminal that standard output is; 0 where it is none, or none that
// somebody looks at (mpirun gives its ranks terminals without a size, and writes what they
// print to wherever its own output goes).
size_t terminalColumns();

class Progress {
public:
  // `unit` is "tokens" or "rows"; `leastSeconds` those of a step at the peak of the device, 0
  // where that is not known.
  Progress(int64_t firstStep, int64_t lastStep, const std::string &unit, double leastSeconds);

  void step(const StepMetrics &m);
  void evaluation(int64_t step, float loss);
  // Leaves the refreshed line as it is and goes to the next.
  void finishLine();

private:
  bool isDue(const StepMetrics &m, bool refreshes) const;
  std::vector<ProgressField> fieldsOf(const StepMetrics &m) const;

  int64_t firstStep, lastStep;
  std::string unit;
  double leastSeconds;
  bool terminal, lineOpen = false;
  // Since the last line.
  int64_t steps = 0, tokens = 0;
  double seconds = 0, shownAt = 0;
  // Of all steps but the first, which prepares more than others.
  int64_t stepsDone = 0;
  double secondsDone = 0;
};

} // namespace braid
#endif // BRAID_TRAIN_PROGRESS_H
