//===- Fuzzer.h - programs under inputs that are nearly right ---*- C++ -*-===//
//
// The programs are the tools themselves: each input is run by a fork of this process, which
// calls the tool's main.  That takes milliseconds, an input cannot disturb the next one,
// and what a program does is judged from outside, as a shell sees it.
//
// A program may do what it should, or refuse: exit status 0, 1 or 2, with a message
// when it is not 0, and no file left then.  All else is a failure: a signal, a report of a
// sanitizer, too long a time, too much memory.
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

/// What is in the program's folder after it.
Files outputsOf(int (*program)(int, char **), const Case &input);

/// The main of a fuzzer: see its --help.
int fuzzMain(int argc, char **argv, const std::vector<Target> &targets);

} // namespace braid::fuzz

#endif // BRAID_FUZZ_FUZZER_H
