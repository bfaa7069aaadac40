//===- StandardFiles.h - prepare a process at its start -------------------===//
//
// The parent of a program may have closed its standard input, output or error. The next file that the
// program opens would get that number, and output would go into a data file.
//
// If a file grows beyond the process's limit (ulimit -f), the write fails with an error, which is reported,
// instead of a signal.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CLI_STANDARDFILES_H
#define BRAID_CLI_STANDARDFILES_H

#include <csignal>
#include <fcntl.h>
#include <unistd.h>

namespace braid::cli {

// Opens closed standard files on /dev/null.
inline void openStandardFiles() {
  for (int number = 0; number <= 2; ++number)
    if (fcntl(number, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) // open returns the lowest free number
      _exit(1);
}

// Call this first in main.
inline void prepareProcess() {
  openStandardFiles();
  std::signal(SIGXFSZ, SIG_IGN);
}

} // namespace braid::cli
#endif // BRAID_CLI_STANDARDFILES_H
