//===- CommandLine.h - the command lines of the tools -----------*- C++ -*-===//
//
// libLLVM registers hundreds of options of its code generators, which a tool that
// links it would list in its help, and its own version.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TOOLS_COMMANDLINE_H
#define BRAID_TOOLS_COMMANDLINE_H

#include "cli/Option.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>
#include <vector>

namespace braid {

/// The options that every tool has.
inline constexpr cli::Option kToolHelp[] = {cli::kHelpOption, {"--version", cli::flag(), "Print the version of Braid"}};

/// Reads the command line of the tool into `object`, the Root of its topics, and returns
/// the names of the options that were given.  Prints and exits where something is wrong,
/// or where the help or the version is asked for.  `words`, if any, gets the options as they were given, "--zero=3".
std::vector<std::string> parseCommandLine(const cli::Command &tool, int argc, char **argv, void *object,
                                          std::vector<std::string> *words = nullptr);

/// Prints what is wrong with the command line, and how to get help, and exits.
[[noreturn]] void exitForUsage(llvm::StringRef tool, llvm::StringRef error);

/// For tools whose options MLIR registers: to be called first in main, when only
/// options of LLVM's libraries are registered, which are hidden.
void describeTool(llvm::StringRef name);

/// Exits if there is a word in `unknown`, naming the registered option nearest to it.
void refuseUnknown(llvm::StringRef tool, llvm::ArrayRef<std::string> unknown);

} // namespace braid

#endif // BRAID_TOOLS_COMMANDLINE_H
