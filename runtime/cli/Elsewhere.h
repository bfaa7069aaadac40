//===- Elsewhere.h - options of other programs ----------------------------===//
//
// A model passes through braid-model, braidc and a training binary, and each has its own options. If
// another of these programs has an option, or Braid has it under another name, the message names the right
// one:
//
//   --precision is an option of braidc: compile with it
//   unknown option '--learning-rate'; did you mean '--lr'?
//   unknown option '--batch-size'; did you mean '--batch' of braid-model?
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CLI_ELSEWHERE_H
#define BRAID_CLI_ELSEWHERE_H

#include <functional>
#include <string>
#include <string_view>

namespace braid::cli {

// A tool, or a command of a training binary, and the options of that program.
struct Caller {
  std::string_view program;
  bool isTool;
  std::function<bool(std::string_view)> has;
};

// Returns a message for an option that `caller` lacks; empty if no program has it and no synonym is known.
std::string optionElsewhere(const Caller &caller, std::string_view option);

// Returns the option of another program that `option` misspells, as "'--precision' of braidc"; empty if
// there is none.
std::string misspelledOptionElsewhere(const Caller &caller, std::string_view option);

// Returns the training command that other frameworks call `word`; empty if there is none.
std::string_view commandForSynonym(std::string_view word);

} // namespace braid::cli
#endif // BRAID_CLI_ELSEWHERE_H
