//===- Help.h - a table as help and as a reference page -------------------===//
#ifndef BRAID_CLI_HELP_H
#define BRAID_CLI_HELP_H

#include "cli/Option.h"

namespace braid::cli {

// What --help prints: options by topic, those of programs for `target` alone (empty: all),
// in lines of at most 80 columns.  `program` is the name by which it was called.
std::string helpText(const Command &command, std::string_view program, std::string_view target);

// The help of a program that is its commands.
std::string helpText(const Command &program, std::span<const Command *const> commands, std::string_view name);

// A section of docs/CommandLine.md.
std::string markdown(const Command &command, std::string_view program);

} // namespace braid::cli
#endif // BRAID_CLI_HELP_H
