//===- Reader.h - from the words of a command line to fields --------------===//
//
// A library (llvm::cl in the tools, CLI11 in training binaries) splits a command line into
// options and values; the table says what they mean.  Whatever is wrong is said as
//
//   error: unknown option '--prefech'; did you mean '--prefetch'?
//   error: --zero=4: invalid value; expected an integer from 0 to 3
//   error: --zero needs --mesh: add --mesh=dp=4,tp=2, or leave --zero out
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CLI_READER_H
#define BRAID_CLI_READER_H

#include "cli/Option.h"

#include <functional>

namespace braid::cli {

// The status of a program whose command line makes no sense.
inline constexpr int kUsageStatus = 2;

struct Words {
  // Of each option as it was given, in any order between options.
  std::vector<std::pair<const Option *, std::string>> given;
  // What is no option of the table, in order.
  std::vector<std::string> unknown;

  bool has(std::string_view name) const { return textOf(name) != nullptr; }
  // What the option was given first; null where it was not.
  const std::string *textOf(std::string_view name) const;
};

// Fills the fields of `object`, the Root of the command's topics.  Returns what is wrong
// with the command line, or nothing.
std::string readOptions(const Command &command, const Words &words, std::string_view target, void *object);

// "unknown option '--prefech'; did you mean '--prefetch'?", with the nearest of `names`.
std::string unknownText(std::string_view what, std::string_view word, std::span<const std::string_view> names);

} // namespace braid::cli
#endif // BRAID_CLI_READER_H
