//===- Presence.h - detect ended ranks on this host -----------------------===//
//
// Each rank locks a file from its start on; the kernel releases the lock when the process ends, for any
// reason. So ranks of one user and host that wait for each other detect the death of a rank that has not
// joined yet.
//
//   $TMPDIR/braid-UID/rank-HASH-R.RANDOM.tmp    HASH: of the rendezvous, the job and the host
//
// The file also names the host (`ownHost`): hosts that share the folder do not see each other's locks. A
// rank that ends because another rank ended adds the number of that rank to its file, so that all ranks
// name the first that ended. A file may be a leftover from an earlier job. So a rank counts as ended only if none of
// its files is locked. In addition, this rank must have seen it alive, or one of its files must be newer than this
// rank's.
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
  // If no file can be written, this object does nothing and knows no other rank.
  explicit Presence(const Joining &own);
  // Removes the file if all ranks have met; otherwise its free lock informs the other ranks.
  ~Presence();
  Presence(const Presence &) = delete;
  Presence &operator=(const Presence &) = delete;

  void noteMeeting() { haveMet = true; }
  // Throws a RankError that names a rank whose process ended some seconds ago.
  void checkOthers();

private:
  using Clock = std::chrono::steady_clock;

  int rankOf(const std::string &name) const;
  // Returns the ranks whose processes have ended, each with the rank that caused this, or itself.
  std::map<int, int> findEndedRanks();

  const int own, size;
  const std::string host;           // first line of the file
  std::string folder, prefix, path; // folder of the files, prefix of their names, path of this rank's file
  std::optional<File> file;         // its lock shows that this rank is alive
  bool haveMet = false;
  std::mutex mutex;
  std::set<int> seen;                           // ranks that were seen alive
  std::map<int, Clock::time_point> endedBefore; // when a rank was first seen to have ended
  Clock::time_point lastCheck;
};

} // namespace braid
#endif // BRAID_COMM_PRESENCE_H
