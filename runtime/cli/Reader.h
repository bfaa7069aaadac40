//===- Reader.h - read a command line into fields -------------------------===//
//
// A library (llvm::cl in the tools, CLI11 in training binaries) splits a command line into options and
// values; the table defines their meaning. Errors look like this:
//
//   error: unknown option '--prefech'; did you mean '--prefetch'?
//   error: --zero=4: invalid value; expected an integer from 0 to 3
//   error: --zero needs --mesh: add --mesh=dp=4,tp=2, or leave --zero out
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CLI_READER_H
#define BRAID_CLI_READER_H

#include "cli/Option.h"

namespace braid::cli {

// Exit status for an invalid command line.
inline constexpr int kUsageStatus = 2;

struct Words {
  // Options with their texts. The texts of one option are in the given order.
  std::vector<std::pair<const Option *, std::string>> given;
  // Words that match no option of the table, in order.
  std::vector<std::string> unknown;

  bool has(std::string_view name) const { return textOf(name) != nullptr; }
  // Returns the first text of the option; null if it was not given.
  const std::string *textOf(std::string_view name) const;
};

// Fills the fields of `object`, the Root of the command's topics. Returns the error in the command line, or
// an empty string.
std::string readOptions(const Command &command, const Words &words, std::string_view target, void *object);

// Returns a text such as "unknown option '--prefech'; did you mean '--prefetch'?", with the nearest of
// `names`.
std::string unknownText(std::string_view what, std::string_view word, std::span<const std::string_view> names);

} // namespace braid::cli
#endif // BRAID_CLI_READER_H
