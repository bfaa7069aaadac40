//===- StandardFiles.h - what a program finds at its start ----------------===//
//
// Who starts a program may have closed its standard input, output or error.  The next file
// that it opens would get that number, and what is printed would go into a data file.
//
// A file that grows beyond the limit of its process (ulimit -f) is an error of the write, which is
// reported, and no signal.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CLI_STANDARDFILES_H
#define BRAID_CLI_STANDARDFILES_H

#include <csignal>
#include <fcntl.h>
#include <unistd.h>

namespace braid::cli {

// Opens those that are closed on /dev/null.
inline void openStandardFiles() {
  for (int number = 0; number <= 2; ++number)
    if (fcntl(number, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) // takes the least number
      _exit(1);
}

// The first thing in main.
inline void prepareProcess() {
  openStandardFiles();
  std::signal(SIGXFSZ, SIG_IGN);
}

} // namespace braid::cli
#endif // BRAID_CLI_STANDARDFILES_H
