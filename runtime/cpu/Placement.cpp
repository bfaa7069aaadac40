//===- Placement.cpp - which cores the threads of a rank run on -----------===//

#include "cpu/Placement.h"

#include "core/Error.h"
#include "cpu/Threads.h"

#include <algorithm>
#include <fstream>
#include <sched.h>
#include <set>
#include <string>
#include <unistd.h>

using namespace braid;

namespace {

std::vector<int> readProcessCores() {
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0)
    return {0};
  std::set<std::string> seen;
  std::vector<int> cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &mask))
      continue;
    std::string siblings; // its own core, if unknown
    std::ifstream file(concat("/sys/devices/system/cpu/cpu", cpu, "/topology/thread_siblings_list"));
    std::getline(file, siblings);
    if (seen.insert(siblings.empty() ? std::to_string(cpu) : siblings).second)
      cores.push_back(cpu);
  }
  return cores.empty() ? std::vector<int>{0} : cores;
}

// Hyperthreads that the machine has, and those that this process may use.
bool hasWholeMachine() {
  cpu_set_t mask;
  return sched_getaffinity(0, sizeof mask, &mask) == 0 && CPU_COUNT(&mask) == sysconf(_SC_NPROCESSORS_ONLN);
}

int machineCores() { return std::max<int>(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN))); }

// A bound process may share its cores with others, but not with all.
int fairThreads(const HostShare &share) {
  int own = static_cast<int>(processCores().size());
  return std::max(1, share.isBound ? std::min(own, machineCores() / share.ranks) : own / share.ranks);
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
  static const std::vector<int> cores = readProcessCores();
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
  parallelRanges(placement.threads, placement.threads, [&](int thread, int64_t, int64_t) {
    restrictTo({placement.cpus[thread]});
  });
}
