//===- Help.h - help and reference page from a table ----------------------===//
#ifndef BRAID_CLI_HELP_H
#define BRAID_CLI_HELP_H

#include "cli/Option.h"

namespace braid::cli {

// Returns the text of --help: options by topic, for programs of `target` only (empty: all), in lines of at
// most 80 columns. `program` is the name under which it was called.
std::string helpText(const Command &command, std::string_view program, std::string_view target);

// Returns the help of a program that consists of commands.
std::string helpText(const Command &program, std::span<const Command *const> commands, std::string_view name);

// Returns a section of docs/CommandLine.md.
std::string markdown(const Command &command, std::string_view program);

} // namespace braid::cli
#endif // BRAID_CLI_HELP_H
