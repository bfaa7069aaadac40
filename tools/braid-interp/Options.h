//===- Options.h - the command line of braid-interp -------------*- C++ -*-===//
#ifndef BRAID_TOOLS_INTERP_OPTIONS_H
#define BRAID_TOOLS_INTERP_OPTIONS_H

#include "lib/Reference/Compare.h"
#include "lib/Reference/Step.h"
#include <optional>
#include <string>
#include <vector>

namespace braid::interp {

enum class Mode { Run, Train, Compare, CheckGradients };

struct Options {
  Mode mode = Mode::Run;
  bool compare = false, checkGradients = false;
  std::string file = "-", function, afterFunction, pipelineBefore, pipeline, referencePipeline;
  reference::Arithmetic arithmetic = reference::Arithmetic::Native;
  reference::InputOptions inputs;
  std::vector<std::string> inputFiles;
  std::string expectFile, outputFile, drawnFile, dataFile, logFile, runsFile;
  int64_t printLimit = 64, microbatches = 1, seeds = 1;
  std::optional<int64_t> steps;
  bool print = false, perRank = false;
  /// `name=number`, as they were given.
  std::vector<std::string> numbers;
  std::optional<double> relative;
  reference::Tolerance tolerance;
  std::vector<std::string> wrt;
  double gradientTolerance = 1e-6, eps = 1e-5;
};

/// Parses the command line; prints a message and exits on an error.
Options parseCommandLine(int argc, char **argv);

} // namespace braid::interp

#endif // BRAID_TOOLS_INTERP_OPTIONS_H
