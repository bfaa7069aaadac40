//===- Command.h - programs that braidc runs --------------------*- C++ -*-===//
//
// A program and its arguments as a vector of words: no shell reads them.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_DRIVER_COMMAND_H
#define BRAID_LIB_DRIVER_COMMAND_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/Program.h"
#include <string>
#include <vector>

namespace braid {

/// A command that may run beside others; its messages go to the file `log`.
class Command {
public:
  Command(std::vector<std::string> arguments, std::string log) : arguments(std::move(arguments)), log(std::move(log)) {}

  llvm::Error start(bool verbose);
  /// Waits for it and shows its warnings; an error has all that it said.
  llvm::Error finish();

private:
  std::vector<std::string> arguments;
  std::string log;
  llvm::sys::ProcessInfo process;
};

/// Starts all, then waits for all; returns the first error.
llvm::Error runAll(llvm::MutableArrayRef<Command> commands, bool verbose);

} // namespace braid

#endif // BRAID_LIB_DRIVER_COMMAND_H
