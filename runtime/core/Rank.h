//===- Rank.h - one of the processes or threads that train together -------===//
#ifndef BRAID_CORE_RANK_H
#define BRAID_CORE_RANK_H

#include "comm/braid_comm.h"

namespace braid {

// A rank's number, how many there are, and how it talks to them.  A rank alone
// has no communicator.
struct Rank {
  int number = 0, size = 1;
  br_comm *comm = nullptr;
  const char *transport = ""; // over which they talk, for people

  // The one that prints, logs and writes what belongs to all.
  bool isFirst() const { return number == 0; }
};

} // namespace braid
#endif // BRAID_CORE_RANK_H
