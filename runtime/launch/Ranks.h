//===- Ranks.h - run a command on this process's ranks --------------------===//
//
// A process is one rank, or runs all ranks as threads with the same command. This depends on the options,
// on the launcher, and on the mesh that the model was compiled for.
//
// Programs on devices have their own transports: "nccl"; or "gloo", "mpi" and "device-threads", which go
// through host memory. "auto" means nccl, or another available transport if nccl cannot start. The choice
// is made after the devices are chosen (Bootstrap.h).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LAUNCH_RANKS_H
#define BRAID_LAUNCH_RANKS_H

#include "comm/LinkModel.h"
#include "comm/Rank.h"
#include "host/Placement.h"
#include "launch/Launch.h"
#include "train/Commands.h"

#include <functional>
#include <optional>
#include <string>

namespace braid {

// Upper limits of options, for the command line and the library.
constexpr int kMaxRanks = 4096, kMaxThreads = 1024, kMaxDevice = 1 << 16;
constexpr double kMaxTimeout = 1e8; // seconds

struct RankOptions {
  std::optional<int> ranks; // in this process
  std::string transport;    // empty: default for the launcher
  double timeout = 300;     // seconds
  std::optional<LinkModel> link;
  std::string rendezvous;                // empty: from the launcher
  std::string tokenFile;                 // empty: the token is from the launcher's environment
  int device = -1;                       // for programs on devices; -1: the rank's number on this host
  std::optional<bool> graphs;            // for programs on devices
  bool programmaticLaunch = true;        // for programs on devices
  std::optional<int> matmulSearch;       // for programs on devices
  std::optional<std::string> matmulPlan; // for programs on devices
  std::optional<std::string> profile;    // empty string: to standard output
  std::optional<std::string> trace;
  int64_t traceSteps = 10;
  int threads = 0; // 0: a fair share of the host's cores
  Pin pin = Pin::Auto;

  bool isMeasured() const { return profile || trace; }
};

struct RankPlan {
  std::string transport; // empty: one rank, which does not communicate
  int size = 1;          // total number of ranks
  int ranksHere = 1;     // number of ranks in this process
  int first = 0;         // number of the first rank in this process
  HostShare share;       // of the first rank
  int local = 0;         // the first rank's number on this host, from the launcher
  std::string host;      // for programs on devices: transport for host memory; empty if there is none
  std::string rendezvous, job, token;
  bool isOneHost = false; // whether the launcher says that all ranks are on this host
};

// Throws Error if options, launcher and mesh do not fit together.
RankPlan planRanks(const br_model &model, const RankOptions &options, const Launch &launch);

// Prepares the command of a rank. Throws Error if it cannot run.
using Preparation = std::function<PreparedCommand(int rank)>;

// Runs the command on all ranks of this process until they end. All ranks prepare the command, and
// processes compare their facts, before any rank allocates memory. Throws the first error; returns the
// status of the first rank.
int runRanks(const br_model &model, const RankPlan &plan, const RankOptions &options, const Preparation &prepare);

// Tells the other ranks that this process cannot start, if a launcher has started any and they have a
// rendezvous. (mpirun ends them itself.) Takes at most a few seconds.
void refuseToStart(const br_model &model, const RankOptions &options, const Launch &launch,
                   const std::string &reason) noexcept;

} // namespace braid
#endif // BRAID_LAUNCH_RANKS_H
