//===- Options.h - options of braid-schedule --------------------*- C++ -*-===//
#ifndef BRAID_TOOLS_BRAID_SCHEDULE_OPTIONS_H
#define BRAID_TOOLS_BRAID_SCHEDULE_OPTIONS_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace braid::schedule {

/// Times of all layers of a rank. A stage that is one of v on its rank takes 1/v of them.
struct Times {
  double forward = 1, inputGradient = 1, weightGradient = 1, transfer = 0;
};

/// Factor of each stage's time; empty if all stages take equal time.
struct Work {
  std::vector<double> ofStage;
};

struct Options {
  std::string schedule;
  std::optional<unsigned> ranks, microbatches, chunks;
  Times times;
  Work work;
  std::optional<double> limit;
  std::optional<std::string> csv, svg;
  bool messages = false;
  unsigned width = 100;
};

/// Parses the command line. Prints a message and exits on an error.
Options parseOptions(int argc, char **argv);

/// Read texts that were checked before.
void readOption(Times &times, std::string_view text);
void readOption(Work &work, std::string_view text);

} // namespace braid::schedule

#endif // BRAID_TOOLS_BRAID_SCHEDULE_OPTIONS_H
