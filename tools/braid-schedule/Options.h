//===- Options.h - what braid-schedule is asked for -------------*- C++ -*-===//
#ifndef BRAID_TOOLS_BRAID_SCHEDULE_OPTIONS_H
#define BRAID_TOOLS_BRAID_SCHEDULE_OPTIONS_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace braid::schedule {

/// Of all layers of a rank; of a stage that is one of v on its rank, a v-th.
struct Times {
  double forward = 1, inputGradient = 1, weightGradient = 1, transfer = 0;
};

/// Of each stage, how many times as long it takes; empty if all take as long.
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

/// Prints and exits where the command line makes no sense.
Options parseOptions(int argc, char **argv);

/// Of texts that were found to be right.
void readOption(Times &times, std::string_view text);
void readOption(Work &work, std::string_view text);

} // namespace braid::schedule

#endif // BRAID_TOOLS_BRAID_SCHEDULE_OPTIONS_H
