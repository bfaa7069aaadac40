//===- Launch.h - detect the launcher and the rank ------------------------===//
//
// Clusters start processes in many ways; all set environment variables with the number of processes. The
// variables are read in this order, because each launcher may run inside the next: torchrun, Open MPI,
// Slurm, PMI and PMIx (Slurm's variables count only if PMI's agree).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LAUNCH_LAUNCH_H
#define BRAID_LAUNCH_LAUNCH_H

#include <functional>
#include <string>

namespace braid {

enum class Launcher { None, Torchrun, OpenMpi, Slurm, Pmi, Pmix };
const char *nameOf(Launcher launcher);

struct Launch {
  Launcher launcher = Launcher::None;
  int rank = 0;
  int size = 1;                     // 0: unknown (PMIx); the transport knows it
  int localRank = 0, localSize = 1; // on this host
  // Whether the launcher bound this process to its own cores.
  bool isBound = false;
  // Rendezvous address of the ranks (Store.h); empty if the launcher gives none.
  std::string rendezvous;
  // Name that differs for each job and each restart; empty if unknown.
  std::string job;
  // Secret shared by the ranks, from BRAID_JOB_TOKEN; may be empty.
  std::string token;
  // Whether the launcher says that all processes are on this host.
  bool isOneHost() const { return size > 0 && localSize == size; }
};

// Returns the value of a variable, or null.
using Environment = std::function<const char *(const char *name)>;

// Throws Error if variables are malformed or contradict each other.
Launch findLaunch(const Environment &environment);

// Returns "threads", "shm", "gloo" or "mpi": the default for the launcher and for one host.
const char *defaultTransport(const Launch &launch);

// Returns the first host of a Slurm host list: "node03" of "node[03-05,09],login1".
std::string firstHost(const std::string &list);

} // namespace braid
#endif // BRAID_LAUNCH_LAUNCH_H
