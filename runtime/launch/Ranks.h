//===- Ranks.h - running a command on the ranks of this process -----------===//
//
// A process is one rank, or is all of them: threads that run the same command.
// Which it is follows from the options, from who started it, and from the mesh
// that the model was compiled for.
//
// Programs on devices have transports of their own: "nccl", or "gloo", "mpi" and
// "device-threads" through the host's memory; "auto" is nccl, or what else there is when
// it cannot start.  That is decided once the devices are chosen (Bootstrap.h).
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

struct RankOptions {
  std::optional<int> ranks; // in this process
  std::string transport;    // empty: what fits the launcher
  double timeout = 300;     // seconds
  std::optional<LinkModel> link;
  std::string rendezvous;                // empty: what the launcher says
  std::string tokenFile;                 // empty: the token is what the launcher's environment says
  int device = -1;                       // of programs on devices; -1: that of the number on this host
  std::optional<bool> graphs;            // likewise
  bool programmaticLaunch = true;        // likewise
  std::optional<int> matmulSearch;       // likewise
  std::optional<std::string> matmulPlan; // likewise
  std::optional<std::string> profile;    // empty: to standard output
  std::optional<std::string> trace;
  int64_t traceSteps = 10;
  int threads = 0; // 0: a fair share
  Pin pin = Pin::Auto;
};

struct RankPlan {
  std::string transport; // empty: one rank, which does not communicate
  int size = 1;          // ranks in all
  int here = 1;          // of them in this process
  int first = 0;         // the number of the first of these
  HostShare share;       // of that first one
  int local = 0;         // its number on this host, as the launcher has it
  std::string host;      // of programs on devices: what carries host memory; empty: nothing
  std::string rendezvous, job, token;
  bool isOneHost = false; // all ranks are on this host, as the launcher says
};

// Throws Error when options, launcher and mesh do not fit together.
RankPlan planRanks(const br_model &model, const RankOptions &options, const Launch &launch);

// What a rank is about to run.  Throws Error when it cannot.
using Preparation = std::function<PreparedCommand(int rank)>;

// Runs it on all ranks of this process to their ends.  Before a rank connects to the others
// and takes memory, all have prepared it, and have compared what they are about to do.
// Throws the first error; returns the status of the first rank.
int runRanks(const br_model &model, const RankPlan &plan, const RankOptions &options, const Preparation &prepare);

// This process cannot start: tells the other ranks so, if a launcher has started any and they
// have a rendezvous.  (mpirun ends them.)  Takes a few seconds at most.
void refuseToStart(const br_model &model, const RankOptions &options, const Launch &launch,
                   const std::string &why) noexcept;

} // namespace braid
#endif // BRAID_LAUNCH_RANKS_H
