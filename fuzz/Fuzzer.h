//===- Fuzzer.h - programs under inputs that are nearly right ---*- C++ -*-===//
//
// The programs are the tools themselves: each input is run by a fork of this process, which calls the tool's main. A
// run takes milliseconds, no input affects the next one, and results are judged from outside, like in a shell.
//
// A program may succeed or refuse: exit status 0, 1 or 2. If the status is not 0, there must be a message and no new
// file. Everything else is a failure: a signal, a report of a sanitizer, a time-out, too much memory.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_FUZZ_FUZZER_H
#define BRAID_FUZZ_FUZZER_H

#include "fuzz/Case.h"

namespace braid::fuzz {

struct Limits {
  unsigned seconds = 20;
  size_t memory = size_t{4} << 30; // of addresses; not under a sanitizer
};

struct Outcome {
  std::string problem; // empty: as it should be
  std::string said;    // on standard error
  bool isRefused = false;
};

Outcome runCase(const Target &target, const Case &input, const Limits &limits);

/// Files in the program's folder after the run.
Files outputsOf(int (*program)(int, char **), const Case &input);

/// The main of a fuzzer: see its --help.
int fuzzMain(int argc, char **argv, const std::vector<Target> &targets);

} // namespace braid::fuzz

#endif // BRAID_FUZZ_FUZZER_H
