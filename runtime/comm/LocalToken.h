//===- LocalToken.h - a job token for the ranks of one host ---------------===//
//
// Ranks of one host need nobody to give them a token: rank 0 draws one, and leaves it in a
// file that only its user can read.  The file of a job that was killed is removed by the next one.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_LOCALTOKEN_H
#define BRAID_COMM_LOCALTOKEN_H

#include "base/File.h"
#include "comm/JobToken.h"

namespace braid {

// The folder of this user for secrets, locks and the like, which nobody else can read; made if it is
// absent.  Throws Error.
std::string folderOfUser();

// Removes the files of jobs that were killed from that folder: nobody holds their locks.  What cannot be removed stays.
void removeLeftovers(const std::string &folder);

// Leaves the token for the ranks that rendezvous on this port; withdrawn at the end.
class LocalToken {
public:
  // Throws Error when the file cannot be written.
  LocalToken(int port, const JobToken &token);
  ~LocalToken();
  LocalToken(const LocalToken &) = delete;
  LocalToken &operator=(const LocalToken &) = delete;

private:
  const std::string path;
  const File file; // whose lock says that the job runs
};

// Empty while there is none.  Throws Error when somebody else could have left it.
JobToken readLocalToken(int port);

} // namespace braid
#endif // BRAID_COMM_LOCALTOKEN_H
