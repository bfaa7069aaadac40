//===- StandardFiles.h - descriptors 0 to 2 are there ---------------------===//
//
// Who starts a program may have closed its standard input, output or error.  The next file
// that it opens would get that number, and what is printed would go into a data file.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CLI_STANDARDFILES_H
#define BRAID_CLI_STANDARDFILES_H

#include <fcntl.h>
#include <unistd.h>

namespace braid::cli {

// Opens those that are closed on /dev/null.  The first thing in main.
inline void openStandardFiles() {
  for (int number = 0; number <= 2; ++number)
    if (fcntl(number, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) // takes the least number
      _exit(1);
}

} // namespace braid::cli
#endif // BRAID_CLI_STANDARDFILES_H
