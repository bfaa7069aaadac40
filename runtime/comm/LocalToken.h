//===- LocalToken.h - job token for ranks of one host ---------------------===//
//
// Ranks of one host need no token from the user: rank 0 draws one and writes it to a file that only its
// user can read. The next job removes the file of a killed job.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_LOCALTOKEN_H
#define BRAID_COMM_LOCALTOKEN_H

#include "base/File.h"
#include "comm/JobToken.h"
#include "comm/Sockets.h"

namespace braid {

// Returns this user's private folder for secrets and locks; no other user can read it. Creates it if it
// does not exist. Throws Error.
std::string folderOfUser();

// Locks the folder, removes files of killed jobs, whose locks are free, and returns the lock. Who makes a file that
// is removed without a lock must hold this one, until that file has its own. Ignores files that cannot be removed.
Socket lockWithoutLeftovers(const std::string &folder);

// Publishes the token for ranks that rendezvous on this port; the destructor removes it.
class LocalToken {
public:
  // Throws Error if the file cannot be written.
  LocalToken(int port, const JobToken &token);
  ~LocalToken();
  LocalToken(const LocalToken &) = delete;
  LocalToken &operator=(const LocalToken &) = delete;

private:
  const std::string path;
  const File file; // its lock shows that the job is running
};

// Returns the token, or an empty one if there is none yet. Throws Error if another user could have written
// it.
JobToken readLocalToken(int port);

} // namespace braid
#endif // BRAID_COMM_LOCALTOKEN_H
