//===- Rank.h - one of the ranks that train together ----------------------===//
#ifndef BRAID_COMM_RANK_H
#define BRAID_COMM_RANK_H

#include "comm/braid_comm.h"

#include <optional>
#include <string>

namespace braid {

class Bootstrap;

// Number of a rank, total number of ranks, and how it communicates. A single rank has no communicator.
struct Rank {
  int number = 0, size = 1;
  br_comm *comm = nullptr;
  const char *transport = ""; // name of the transport, for messages
  // Settings of programs on devices, whose ranks agree on a transport later:
  Bootstrap *bootstrap = nullptr; // communication until then; null for a single rank
  int local = 0;                  // number of the rank on this host
  int device = -1;                // from --device; -1: use the local number
  bool sharesDevice = false;      // with the other ranks of this process
  // Whether programs are captured once and replayed; empty: if possible.
  std::optional<bool> graphs = std::nullopt;
  // Whether a kernel may begin before the previous kernel ends, on GPUs that support it.
  bool programmaticLaunch = true;
  // File for the times of actions; empty string: standard output.
  std::optional<std::string> profile = std::nullopt;
  // File for a trace of all ranks' first steps, and the number of these steps.
  std::optional<std::string> trace = std::nullopt;
  int64_t traceSteps = 0;
  // Number of algorithms to time for each matmul. At most 1: times none and uses the library's first
  // suggestion. Empty: as many as pay off.
  std::optional<int> matmulSearch = std::nullopt;
  // File with the chosen algorithms; empty: beside the program.
  std::optional<std::string> matmulPlan = std::nullopt;
  // Number of steps that the command trains; 0 if it does not train.
  int64_t trainingSteps = 0;
  // Whether the rank may end its process when a device does not return.
  bool ownsProcess = true;

  // The first rank prints, logs and writes shared files.
  bool isFirst() const { return number == 0; }
};

} // namespace braid
#endif // BRAID_COMM_RANK_H
