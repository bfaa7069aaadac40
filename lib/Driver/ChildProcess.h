//===- ChildProcess.h - programs that braidc runs ---------------*- C++ -*-===//
//
// A compiler runs in a process group of its own, which a signal that ends braidc ends with
// it, and the temporary folders of braidc go, too: where SIGINT, SIGTERM or SIGHUP ends it, or
// an error that it cannot return from (std::quick_exit).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_DRIVER_CHILDPROCESS_H
#define BRAID_LIB_DRIVER_CHILDPROCESS_H

#include "llvm/Support/Error.h"
#include <string>
#include <sys/types.h>
#include <vector>

namespace braid {

/// A running program.
class ChildProcess {
public:
  /// Runs `arguments`, whose first is a path, without a shell.  It reads nothing, writes to
  /// the file `log`, and keeps temporary files in the folder `scratch`.
  static llvm::Expected<ChildProcess> start(const std::vector<std::string> &arguments, const std::string &log,
                                            const std::string &scratch);
  /// Waits for its end; how that came about if it was not with status 0, as "status 1" or
  /// "signal 9".
  std::string wait();

private:
  explicit ChildProcess(pid_t pid) : pid(pid) {}
  pid_t pid;
};

/// Makes the folder `path` of files one that goes where the process is ended.
void removeWhenInterrupted(const std::string &path);
/// That folder stays, or is removed in the ordinary way.
void keepWhenInterrupted(const std::string &path);

} // namespace braid

#endif // BRAID_LIB_DRIVER_CHILDPROCESS_H
