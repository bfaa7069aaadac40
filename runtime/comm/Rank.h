//===- Rank.h - one of the processes or threads that train together -------===//
#ifndef BRAID_COMM_RANK_H
#define BRAID_COMM_RANK_H

#include "comm/braid_comm.h"

#include <optional>
#include <string>

namespace braid {

class Bootstrap;

// A rank's number, how many there are, and how it communicates with them.  A rank
// alone has no communicator.
struct Rank {
  int number = 0, size = 1;
  br_comm *comm = nullptr;
  const char *transport = ""; // that they communicate over, for people
  // For programs on devices, whose transport the ranks agree on later:
  Bootstrap *bootstrap = nullptr; // how they communicate until then; none for a rank alone
  int local = 0;                  // the rank's number on this host
  int device = -1;                // that of --device; -1: that of its local number
  bool sharesDevice = false;      // with the other ranks of this process
  // Whether programs are captured once and replayed; empty: where possible.
  std::optional<bool> graphs = std::nullopt;
  // Whether a kernel may begin before the one in front of it has ended, where the GPU can.
  bool programmaticLaunch = true;
  // Where the times of actions go: a file; empty: standard output.
  std::optional<std::string> profile = std::nullopt;
  // The file with what all ranks did in their first steps, and how many these are.
  std::optional<std::string> trace = std::nullopt;
  int64_t traceSteps = 0;
  // Algorithms that are timed for each matmul; up to 1: none, the library's first guess is taken; empty: as many as
  // pay off.
  std::optional<int> matmulSearch = std::nullopt;
  // The file with the algorithms that were chosen; none: beside the program.
  std::optional<std::string> matmulPlan = std::nullopt;
  // The steps of the job that the command trains; 0: it does not train.
  int64_t trainingSteps = 0;

  // The one that prints, logs and writes what belongs to all.
  bool isFirst() const { return number == 0; }
};

} // namespace braid
#endif // BRAID_COMM_RANK_H
