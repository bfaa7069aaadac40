//===- Presence.h - which ranks of this host have started, and ended ------===//
//
// Each rank holds the lock of a file from its start on; the kernel drops the lock when the process
// ends, however it ends.  So ranks of one user and host that wait for each other see the death of a
// rank that has not joined yet.
//
//   $TMPDIR/braid-UID/rank-HASH-R.RANDOM.tmp    HASH: of the rendezvous, the job and the host
//
// The file holds the host, too (`ownHost`): where several share the folder, they do not see each other's
// locks.  A file may be left over from an earlier job.  So a rank counts as ended only if none of its files
// is locked, and if this rank has seen it alive, or one of them is newer than this rank's.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_PRESENCE_H
#define BRAID_COMM_PRESENCE_H

#include "base/File.h"

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

namespace braid {

struct Joining;

class Presence {
public:
  // Ends without a file, and knows of no other rank, where none can be written.
  explicit Presence(const Joining &own);
  // Removes the file if all ranks have met; else its free lock tells the others.
  ~Presence();
  Presence(const Presence &) = delete;
  Presence &operator=(const Presence &) = delete;

  void noteMeeting() { haveMet = true; }
  // Throws RankError that names a rank whose process has ended, some seconds after it did.
  void checkOthers();

private:
  using Clock = std::chrono::steady_clock;

  int rankOf(const std::string &name) const;
  // The ranks whose processes have ended.
  std::set<int> look();

  const int own, size;
  const std::string host;
  std::string folder, prefix, path; // where the files are, how their names begin, and that of this rank
  std::optional<File> file;         // whose lock says that this rank lives
  bool haveMet = false;
  std::mutex mutex;
  std::set<int> seen;                           // ranks that lived
  std::map<int, Clock::time_point> endedBefore; // when a rank was first seen to be over
  Clock::time_point lastCheck;
};

} // namespace braid
#endif // BRAID_COMM_PRESENCE_H
