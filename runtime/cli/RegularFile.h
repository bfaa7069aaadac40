//===- RegularFile.h - open regular files only ----------------------------===//
//
// If a file is expected, reading a pipe could wait forever, and a device may have no end.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CLI_REGULARFILE_H
#define BRAID_CLI_REGULARFILE_H

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace braid::cli {

// Opens a regular file or a block device for reading; on failure, returns -1 and sets `problem`.
inline int openRegularFile(const std::string &path, std::string &problem) {
  // O_NONBLOCK: otherwise, opening a pipe waits for a writer.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat info;
  if (fd < 0 || fstat(fd, &info) != 0)
    problem = std::strerror(errno);
  else if (S_ISDIR(info.st_mode))
    problem = "it is a directory";
  else if (!S_ISREG(info.st_mode) && !S_ISBLK(info.st_mode))
    problem = "it is a pipe or a device, but random access is needed; copy it into a file";
  else
    return fd;
  if (fd >= 0)
    close(fd);
  return -1;
}

} // namespace braid::cli
#endif // BRAID_CLI_REGULARFILE_H
