//===- Placement.cpp - cores for the threads of a rank --------------------===//

#include "host/Placement.h"

#include "base/Error.h"
#include "host/Threads.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <sched.h>
#include <set>
#include <string>
#include <unistd.h>

// For declarations only: the library is loaded at run time.
#if __has_include(<hwloc.h>)
#define BRAID_WITH_HWLOC
#include <dlfcn.h>
#include <hwloc.h>
#endif

using namespace braid;

//===----------------------------------------------------------------------===//
// The cores of this process, in the machine's order
//===----------------------------------------------------------------------===//

namespace {

// Returns the hyperthreads that the process may use, ascending.
std::vector<int> allowedThreads() {
  cpu_set_t mask;
  std::vector<int> threads;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &mask))
        threads.push_back(cpu);
  return threads;
}

#ifdef BRAID_WITH_HWLOC

// Returns a function of the library; throws Error if the library does not have it.
template <class Function> Function *functionOf(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (!found)
    fail("hwloc has no ", name);
  return reinterpret_cast<Function *>(found);
}
#define HWLOC(name) functionOf<decltype(name)>(library, #name)

// Returns an empty list if hwloc is missing or has another version than at compile time.  Does not
// call hwloc without /sys: it would find nothing and print a complaint to standard error.
std::vector<int> coresOfHwloc(const std::vector<int> &allowed) try {
  if (access("/sys/devices/system/cpu", F_OK) != 0)
    return {};
  struct Close {
    void operator()(void *library) const { dlclose(library); }
  };
  std::unique_ptr<void, Close> opened(dlopen("libhwloc.so.15", RTLD_LAZY | RTLD_LOCAL));
  void *library = opened.get();
  if (!library || (HWLOC(hwloc_get_api_version)() >> 16) != (HWLOC_API_VERSION >> 16))
    return {};
  hwloc_topology_t topology;
  if (HWLOC(hwloc_topology_init)(&topology) != 0)
    return {};
  std::vector<int> cores;
  if (HWLOC(hwloc_topology_load)(topology) == 0) {
    int depth = HWLOC(hwloc_get_type_depth)(topology, HWLOC_OBJ_CORE);
    unsigned count = depth < 0 ? 0 : HWLOC(hwloc_get_nbobjs_by_depth)(topology, depth);
    for (unsigned i = 0; i < count; ++i) {
      hwloc_obj_t core = HWLOC(hwloc_get_obj_by_depth)(topology, depth, i);
      auto isIn = [&](int cpu) { return HWLOC(hwloc_bitmap_isset)(core->cpuset, static_cast<unsigned>(cpu)) != 0; };
      if (auto first = std::find_if(allowed.begin(), allowed.end(), isIn); first != allowed.end())
        cores.push_back(*first);
    }
  }
  HWLOC(hwloc_topology_destroy)(topology);
  return cores;
} catch (const Error &) {
  return {};
}

#else
std::vector<int> coresOfHwloc(const std::vector<int> &) { return {}; }
#endif

// Returns a line of /sys/devices/system/cpu/cpu3/topology/, or "".
std::string topologyLine(int cpu, const char *name) {
  std::ifstream file(concat("/sys/devices/system/cpu/cpu", cpu, "/topology/", name));
  std::string line;
  std::getline(file, line);
  return line;
}

std::vector<int> coresOfKernel(const std::vector<int> &allowed) {
  struct Core {
    std::array<long, 3> place; // package, die, core
    int cpu;
    auto operator<=>(const Core &) const = default;
  };
  std::set<std::string> seen;
  std::vector<Core> cores;
  for (int cpu : allowed) {
    std::string siblings = topologyLine(cpu, "thread_siblings_list"); // if unknown, the CPU counts as its own core
    if (!seen.insert(siblings.empty() ? std::to_string(cpu) : siblings).second)
      continue;
    auto number = [&](const char *name) { return std::strtol(topologyLine(cpu, name).c_str(), nullptr, 10); };
    cores.push_back({{number("physical_package_id"), number("die_id"), number("core_id")}, cpu});
  }
  std::sort(cores.begin(), cores.end());
  std::vector<int> result;
  for (const Core &core : cores)
    result.push_back(core.cpu);
  return result;
}

} // namespace

// Returns the physical cores that this process may run on, each as its first usable hyperthread.
// Neighbours in the list share what cores can share: caches, memory, a package.  Never empty.
//
// Uses hwloc's order of the machine if hwloc is installed at run time (a program needs it neither
// to link nor to run).  Otherwise uses the kernel's numbers of packages and cores.
static std::vector<int> coresInOrder() {
  std::vector<int> allowed = allowedThreads(), cores = coresOfHwloc(allowed);
  if (cores.empty())
    cores = coresOfKernel(allowed);
  return cores.empty() ? std::vector<int>{0} : cores;
}

//===----------------------------------------------------------------------===//
// Ranks and threads on cores
//===----------------------------------------------------------------------===//

namespace {

bool hasWholeMachine() {
  cpu_set_t mask;
  return sched_getaffinity(0, sizeof mask, &mask) == 0 && CPU_COUNT(&mask) == sysconf(_SC_NPROCESSORS_ONLN);
}

// Default number of threads.  A bound process may share its cores with other processes, but gets no
// more than its share of the machine.
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
  sched_setaffinity(0, sizeof mask, &mask); // failure only makes it slower, not wrong
}

} // namespace

// Computed once: later a thread of the pool may be restricted.
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
  // Spreads the ranks over the machine, and keeps the threads of each rank side by side.
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
