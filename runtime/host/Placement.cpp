//===- Placement.cpp - which cores the threads of a rank run on -----------===//

#include "host/Placement.h"

#include "base/Error.h"
#include "host/Threads.h"
#include "host/Topology.h"

#include <algorithm>
#include <sched.h>
#include <unistd.h>

using namespace braid;

namespace {

bool hasWholeMachine() {
  cpu_set_t mask;
  return sched_getaffinity(0, sizeof mask, &mask) == 0 && CPU_COUNT(&mask) == sysconf(_SC_NPROCESSORS_ONLN);
}

// A bound process may share its cores with some of the others, but has no more than
// its part of the machine.
int fairThreads(const HostShare &share) {
  int own = static_cast<int>(processCores().size());
  int machine = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  return std::max(1, share.isBound ? std::min(own, machine / share.ranks) : own / share.ranks);
}

void restrictTo(const std::vector<int> &cpus) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (int cpu : cpus)
    CPU_SET(cpu, &mask);
  sched_setaffinity(0, sizeof mask, &mask); // what fails is slower, and right
}

} // namespace

// Read once: later a thread of the pool may be restricted.
const std::vector<int> &braid::processCores() {
  static const std::vector<int> cores = coresInOrder();
  return cores;
}

Placement braid::placeRank(int threads, Pin pin, const HostShare &share) {
  const std::vector<int> &cores = processCores();
  Placement placement{threads > 0 ? threads : fairThreads(share), {}};
  if (pin == Pin::Off)
    return placement;
  const int ranks = share.isBound ? 1 : share.ranks, rank = share.isBound ? 0 : share.rank;
  const int64_t wanted = int64_t{placement.threads} * ranks;
  if (pin == Pin::Auto && (share.ranks == 1 || share.isBound || !hasWholeMachine() || wanted > int64_t(cores.size())))
    return placement;
  if (wanted > int64_t(cores.size()))
    fail("--pin=on gives each thread a core, but there are ", ranks, " ranks of ", placement.threads, " threads and ",
         cores.size(), " cores; start fewer, or give --pin=off");
  // Ranks spread over the machine, the threads of each side by side.
  const size_t first = cores.size() * rank / ranks;
  placement.cpus.assign(cores.begin() + first, cores.begin() + first + placement.threads);
  return placement;
}

void braid::enterCores(const Placement &placement) {
  if (!placement.cpus.empty())
    restrictTo(placement.cpus);
}

void braid::pinPool(const Placement &placement) {
  if (placement.cpus.empty())
    return;
  setThreads(placement.threads);
  parallelRanges(placement.threads, placement.threads,
                 [&](int thread, int64_t, int64_t) { restrictTo({placement.cpus[thread]}); });
}
