//===- Elsewhere.h - options of other programs, and of other frameworks ---===//
//
// A model goes through braid-model, braidc and a training binary, and each has its options.
// An option that another of them has, or that Braid has under another name, is answered with
// the right one:
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

// A tool, or a command of a training binary, with the options that it has itself.
struct Asked {
  std::string_view program;
  bool isTool;
  std::function<bool(std::string_view)> has;
};

// Message for an option that `asked` does not have; empty if no program has it and no synonym is known.
std::string optionElsewhere(const Asked &asked, std::string_view option);

// The option of another program that `option` is a misspelling of, as "'--precision' of braidc"; empty for none.
std::string misspeltElsewhere(const Asked &asked, std::string_view option);

// The command of training binaries that other programs call so; empty for none.
std::string_view commandCalled(std::string_view word);

} // namespace braid::cli
#endif // BRAID_CLI_ELSEWHERE_H
