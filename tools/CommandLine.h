//===- CommandLine.h - what every tool says of itself -----------*- C++ -*-===//
//
// libLLVM registers hundreds of options of its code generators, which a tool that
// links it would list in its help, and its own version.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TOOLS_COMMANDLINE_H
#define BRAID_TOOLS_COMMANDLINE_H

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

namespace braid {

/// For tools whose options MLIR registers: to be called first in main, when only
/// options of LLVM's libraries are registered, which are hidden.
inline void describeTool(llvm::StringRef name) {
  for (auto &entry : llvm::cl::getRegisteredOptions())
    if (entry.second->ArgStr != "help" && entry.second->ArgStr != "version")
      entry.second->setHiddenFlag(llvm::cl::Hidden);
  llvm::cl::SetVersionPrinter(
      [name = name.str()](llvm::raw_ostream &os) { os << name << " " << BRAID_VERSION << "\n"; });
}

} // namespace braid

#endif // BRAID_TOOLS_COMMANDLINE_H
