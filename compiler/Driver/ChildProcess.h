//===- ChildProcess.h - programs that braidc runs ---------------*- C++ -*-===//
//
// Each compiler runs in a process group of its own. When SIGINT, SIGTERM, SIGHUP or a fatal error (std::quick_exit)
// ends braidc, braidc kills these groups and removes its temporary folders.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMPILER_DRIVER_CHILDPROCESS_H
#define BRAID_COMPILER_DRIVER_CHILDPROCESS_H

#include "llvm/Support/Error.h"
#include <string>
#include <sys/types.h>
#include <vector>

namespace braid {

/// A running program.
class ChildProcess {
public:
  /// Runs the program `arguments[0]`, which is a path, with `arguments` and without a shell. The program has no input,
  /// writes its output to the file `log`, and keeps temporary files in the folder `scratch`.
  static llvm::Expected<ChildProcess> start(const std::vector<std::string> &arguments, const std::string &log,
                                            const std::string &scratch);
  /// Waits for the program to end. Returns an empty string for status 0, else the reason, as "status 1" or "signal 9".
  std::string wait();

private:
  explicit ChildProcess(pid_t pid) : pid(pid) {}
  pid_t pid;
};

/// Registers the folder `path`, which holds only files, for removal when a signal or a fatal error ends the process.
void removeOnInterrupt(const std::string &path);
/// Removes the registration of `path`. The caller keeps or removes the folder.
void keepOnInterrupt(const std::string &path);

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_CHILDPROCESS_H
