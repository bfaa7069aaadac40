//===- Options.h - what braidc was asked to do ------------------*- C++ -*-===//
#ifndef BRAID_LIB_DRIVER_OPTIONS_H
#define BRAID_LIB_DRIVER_OPTIONS_H

#include <cstdint>
#include <string>
#include <vector>

namespace braid {

/// Where the compiler stops, in order.
enum class Emit {
  Tg,     // the programs, in primitives
  Exec,   // actions on values
  Memory, // actions in memory
  Cpp,    // generated sources
  Dir,    // generated sources, the runtime's and a CMakeLists.txt
  Exe,    // the training binary
};

struct OptimizerOptions {
  std::string name = "adamw";
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8, momentum = 0.9, weightDecay = 0.0;
  std::vector<std::string> decayExclude;
  double clip = 0.0;
};

struct DriverOptions {
  std::string input, output;
  Emit emit = Emit::Exe;
  std::string target = "cpu";
  int64_t accumulate = 1;
  OptimizerOptions optimizer;
  /// Bytes, possibly with a unit; empty for none.
  std::string memoryLimit;
  /// A file for the plan as JSON, "-" to print it readably, empty for neither.
  std::string report;
  /// What -march= is given.
  std::string cpu = "native";
  std::string compiler = "c++";
  /// A folder in which the generated sources stay.
  std::string keep;
  /// The folder with lib/braid and share/braid; empty to look around the program.
  std::string runtimeDir;
  bool printPipeline = false, verbose = false;
};

} // namespace braid

#endif // BRAID_LIB_DRIVER_OPTIONS_H
