//===- CommandLine.h - command lines of the tools ---------------*- C++ -*-===//
//
// libLLVM registers hundreds of options of its code generators, and its own --version. The help of a tool that links
// libLLVM would list them.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TOOLS_COMMANDLINE_H
#define BRAID_TOOLS_COMMANDLINE_H

#include "cli/Option.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>
#include <vector>

namespace braid {

/// Options that every tool has.
inline constexpr cli::Option kToolHelp[] = {cli::kHelpOption, {"--version", cli::flag(), "Print the version of Braid"}};

/// Parses the command line of the tool into `object`, the Root of its topics. Returns the names of the given options.
/// Prints a message and exits on an error, or if help or the version is requested. `words`, if not null, receives the
/// options as they were given: "--zero=3".
std::vector<std::string> parseCommandLine(const cli::Command &tool, int argc, char **argv, void *object,
                                          std::vector<std::string> *words = nullptr);

/// Prints the error in the command line, and how to get help, and exits.
[[noreturn]] void exitForUsage(llvm::StringRef tool, llvm::StringRef error);

/// Hides the options of LLVM's libraries, for tools whose options MLIR registers. Must be called first in main, when no
/// other options are registered.
void describeTool(llvm::StringRef name);

/// Exits if `unknown` has a word. The message names the registered option nearest to it.
void refuseUnknown(llvm::StringRef tool, llvm::ArrayRef<std::string> unknown);

} // namespace braid

#endif // BRAID_TOOLS_COMMANDLINE_H
