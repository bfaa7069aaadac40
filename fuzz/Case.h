//===- Case.h - an input of a program ---------------------------*- C++ -*-===//
//
// A program with its arguments and the files in its folder. A case is stored as a folder of these files, with a file
// `command` that has an argument a line.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_FUZZ_CASE_H
#define BRAID_FUZZ_CASE_H

#include "fuzz/Mutate.h"
#include <functional>
#include <map>

namespace braid::fuzz {

using Files = std::map<std::string, std::string>; // by their paths in the folder

struct Case {
  Texts words; // the program first
  Files files;
};

/// A fuzzed program, and the generator of its inputs.
struct Target {
  const char *name;
  size_t share; // of all inputs, in proportion to those of others
  int (*program)(int argc, char **argv);
  std::function<Case(Random &)> make;
  /// Whether a program that fails may leave new files.
  bool (*mayStay)(const std::string &path) = [](const std::string &) { return false; };
  /// Inputs may request much work, so a time-out is no failure.
  bool mayTakeLong = false;
};

std::string readFile(const std::string &path);
Files readFiles(const std::string &folder);
void writeFiles(const std::string &folder, const Files &files);

Case readCase(const std::string &folder);
void writeCase(const std::string &folder, const Case &input);

/// Returns the paths below the folder with this ending, in order.
Texts pathsBelow(const std::string &folder, const std::string &suffix);

} // namespace braid::fuzz

#endif // BRAID_FUZZ_CASE_H
