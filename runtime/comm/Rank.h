//===- Rank.h - one of the processes or threads that train together -------===//
#ifndef BRAID_COMM_RANK_H
#define BRAID_COMM_RANK_H

#include "comm/braid_comm.h"

#include <optional>
#include <string>

namespace braid {

class Reach;

// A rank's number, how many there are, and how it talks to them.  A rank alone
// has no communicator.
struct Rank {
  int number = 0, size = 1;
  br_comm *comm = nullptr;
  const char *transport = ""; // over which they talk, for people
  // Of programs on devices, which talk over a transport that the ranks agree on later:
  Reach *reach = nullptr;    // how they reach each other until then; none of a rank alone
  int local = 0;             // the rank's number on this host
  int device = -1;           // the one it was told to use; -1: that of its local number
  bool sharesDevice = false; // with the other ranks of this process
  // Whether it captures its programs once, and replays them; empty: where it can.
  std::optional<bool> graphs = std::nullopt;
  // Where the times of actions go: a file; empty: standard output.
  std::optional<std::string> profile = std::nullopt;
  // Whether the gradient of attention is the same bits in every run.
  bool deterministicAttention = true;
  // Algorithms that are timed for each product; 1: none, the library's first guess will do.
  int matmulSearch = 1;

  // The one that prints, logs and writes what belongs to all.
  bool isFirst() const { return number == 0; }
};

} // namespace braid
#endif // BRAID_COMM_RANK_H
