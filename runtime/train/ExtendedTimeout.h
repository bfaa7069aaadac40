//===- ExtendedTimeout.h - wait longer for the other ranks ----------------===//
#ifndef BRAID_TRAIN_EXTENDEDTIMEOUT_H
#define BRAID_TRAIN_EXTENDEDTIMEOUT_H

#include "comm/Bootstrap.h"
#include "comm/Communicator.h"
#include "comm/Rank.h"

namespace braid {

// While this object lives, the rank waits at least `seconds` for the other ranks, whatever
// --timeout says.  All ranks use it while one of them does something long, such as a save.  A rank
// that dies meanwhile is noticed as always.
class ExtendedTimeout {
public:
  ExtendedTimeout(const Rank &rank, double seconds) : rank(rank) { set(seconds); }
  ~ExtendedTimeout() { set(0); }
  ExtendedTimeout(const ExtendedTimeout &) = delete;

private:
  void set(double seconds) const {
    if (rank.comm)
      rank.comm->waitAtLeast(seconds);
    if (rank.bootstrap)
      rank.bootstrap->waitAtLeast(seconds);
  }

  const Rank &rank;
};

} // namespace braid
#endif // BRAID_TRAIN_EXTENDEDTIMEOUT_H
