//===- Launch.h - who started this process, and as which rank -------------===//
//
// Clusters start processes in many ways, and all of them say in the environment
// how many there are.  Read in this order, because each may run inside the next:
// torchrun, Open MPI, Slurm, PMI and PMIx (Slurm's variables count where PMI's say
// the same).
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
  int size = 1;                     // 0: not said (PMIx), the transport knows
  int localRank = 0, localSize = 1; // on this host
  // The launcher has given this process cores of its own.
  bool isBound = false;
  // The rendezvous of the ranks, an address of Store.h; empty if the launcher gives none.
  std::string rendezvous;
  // Different for each job and each restart of it, if something says so.
  std::string job;
  // BRAID_JOB_TOKEN: the secret that the ranks share; may be empty.
  std::string token;
  // The launcher says that all its processes are on this host.
  bool isOneHost() const { return size > 0 && localSize == size; }
};

// The value of a variable, or null.
using Environment = std::function<const char *(const char *name)>;

// Throws Error when variables are malformed or contradict each other.
Launch findLaunch(const Environment &environment);

// "threads", "shm", "gloo" or "mpi": what fits the launcher, and one host.
const char *defaultTransport(const Launch &launch);

// The first name of a Slurm list of hosts: "node03" of "node[03-05,09],login1".
std::string firstHost(const std::string &list);

} // namespace braid
#endif // BRAID_LAUNCH_LAUNCH_H
