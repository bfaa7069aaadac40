//===- Progress.h - progress of training on the terminal ------------------===//
//
// On a terminal, refreshes one line, which is never wider than the terminal. Elsewhere, prints about fifty
// lines per run, and at least one every 30 seconds. Rates are means since the previous line.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TRAIN_PROGRESS_H
#define BRAID_TRAIN_PROGRESS_H

#include "train/Metrics.h"

#include <cstdint>
#include <string>
#include <vector>

namespace braid {

// A part of the line. Optional parts are dropped if the line has no room for all.
struct ProgressField {
  std::string text;
  int dropOrder; // the highest number is dropped first; 0: never
};

// Joins the fields in order, in at most `width` columns.
std::string fitLine(std::vector<ProgressField> fields, size_t width);

// Returns the number of columns of the terminal at standard output, or 0 if it is not a terminal or has no
// size. (mpirun gives its ranks terminals without a size, and forwards their output to its own.)
size_t terminalColumns();

class Progress {
public:
  // `unit` is "tokens" or "rows". `minSeconds` is the time of a step at the peak rate of the device, or 0
  // if unknown.
  Progress(int64_t firstStep, int64_t lastStep, const std::string &unit, double minSeconds);

  void step(const StepMetrics &m);
  void evaluation(int64_t step, float loss);
  // Ends the refreshed line and keeps it on the terminal.
  void finishLine();

private:
  bool isDue(const StepMetrics &m, bool refreshes) const;
  std::vector<ProgressField> fieldsOf(const StepMetrics &m) const;

  int64_t firstStep, lastStep;
  std::string unit;
  double minSeconds;
  bool terminal, lineOpen = false;
  // Totals since the previous line.
  int64_t steps = 0, tokens = 0;
  double seconds = 0, shownAt = 0;
  // Totals of all steps but the first, which includes extra preparation.
  int64_t stepsDone = 0;
  double secondsDone = 0;
};

} // namespace braid
#endif // BRAID_TRAIN_PROGRESS_H
