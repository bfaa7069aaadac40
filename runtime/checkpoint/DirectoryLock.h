//===- DirectoryLock.h - one job per checkpoint directory -----------------===//
//
// The first rank of a job holds DIR/.lock by flock for the whole job; the kernel releases it when the
// process dies. The file names its holder: one line each for the job, the host, the process and its start
// time. It is removed at the end, so an existing file without a lock belonged to a killed job. At each
// save, the job checks that the file is still its own. A link, a pipe or a file with other contents is
// refused and left alone.
//
// On some network file systems, flock is missing or holds on one host only, so it does not show whether a
// job on another host runs. There, a file from this host is judged by whether its process runs. A file from
// another host is refused, and the message names the file to remove.
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

// Whether hosts that share a file system of this type see each other's locks. For some types the answer
// depends on the mount options (a line of /proc/self/mountinfo); types without such an option count as no.
bool isFlockSharedByHosts(uint32_t type, std::string_view mount);

class DirectoryLock {
public:
  using Flock = int (*)(int fd, int operation);

  // Creates the directory if needed, and removes unfinished files of a job that was killed while it held
  // the lock. Throws an Error that names the holder.
  explicit DirectoryLock(const std::string &directory, Flock flock = ::flock);
  DirectoryLock(const DirectoryLock &) = delete;
  ~DirectoryLock();

  // Throws Error if the file was removed or replaced: then another job may also save in this directory.
  void check() const;
  // Checks the lock and records the job's id.
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
  bool isNew;               // whether this lock created the directory
  std::optional<File> file; // has the kernel's lock; absent: the file alone is the lock
  bool held = false;
  Record own;
};

} // namespace braid
#endif // BRAID_CHECKPOINT_DIRECTORYLOCK_H
