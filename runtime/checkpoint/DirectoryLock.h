//===- DirectoryLock.h - one job at a time in a directory of checkpoints --===//
//
// The first rank of a job holds DIR/.lock, by flock, from its start to its end: the kernel
// gives it up when the process dies.  The file says whose it is: a line each for the job,
// the host, the process and when it started.  It is removed at the end, so one that is
// there and free belonged to a job that was killed.  A job looks at each save whether the file
// is still its own.  A link, a pipe, or a file with other contents is refused and left alone.
//
// Where flock does not tell whether another host's job still runs (network file systems
// that have none, or one for each host alone), a file of this host is judged by whether its
// process runs; one of another host is refused, and the message names the file to remove.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CHECKPOINT_DIRECTORYLOCK_H
#define BRAID_CHECKPOINT_DIRECTORYLOCK_H

#include "base/File.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <sys/file.h>

namespace braid {

// Whether hosts that share a file system see each other's locks: those of one host need not,
// of some the mount (a line of /proc/self/mountinfo) says it, of others nothing does.
bool isFlockOfAllHosts(uint32_t type, std::string_view mount);

class DirectoryLock {
public:
  using Flock = int (*)(int fd, int operation);

  // Creates the directory if need be, and removes what a job that was killed while it held
  // the lock has left there.  Throws Error that says who holds it.
  explicit DirectoryLock(const std::string &directory, Flock flock = ::flock);
  DirectoryLock(const DirectoryLock &) = delete;
  ~DirectoryLock();

  // Throws Error when somebody has taken the file away: then another job may save there, too.
  void check() const;
  // Writes down the job's id, once that is known; checks first.
  void recordJob(const std::string &job);

private:
  using Record = std::map<std::string, std::string>;

  bool tryFlock(Flock flock);
  bool tryFile();
  void cleanUpAfter(const Record &holder) const;
  std::string text() const;
  void writeText(File &to) const;
  void record();
  bool isOwn() const;

  std::string directory, path;
  bool isNew;               // the directory was made for this
  std::optional<File> file; // has the lock of the kernel; absent: the file alone is the lock
  bool held = false;
  Record own;
};

} // namespace braid
#endif // BRAID_CHECKPOINT_DIRECTORYLOCK_H
