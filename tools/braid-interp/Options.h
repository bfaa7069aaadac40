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
  std::string file, function, afterFunction, pipelineBefore, pipeline, referencePipeline;
  reference::Arithmetic arithmetic = reference::Arithmetic::Native;
  reference::InputOptions inputs;
  std::string inputFile, expectFile, outputFile, dataFile, logFile;
  int64_t printLimit = 64, steps = 1, microbatches = 1, seeds = 1;
  bool print = false, perRank = false;
  reference::Tolerance tolerance;
  std::vector<std::string> wrt;
  double gradientTolerance = 1e-6, eps = 1e-5;
};

/// Parses the command line; prints a message and exits on an error.
Options parseCommandLine(int argc, char **argv);

} // namespace braid::interp

#endif // BRAID_TOOLS_INTERP_OPTIONS_H
