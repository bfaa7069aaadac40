//===- Topology.cpp - the cores of this process, in the machine's order ---===//

#include "host/Topology.h"

#include "base/Error.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <sched.h>
#include <set>
#include <string>

// Only declarations: the library is looked for when a program runs.
#if __has_include(<hwloc.h>)
#define BRAID_WITH_HWLOC
#include <dlfcn.h>
#include <hwloc.h>
#endif

using namespace braid;

namespace {

// Hyperthreads that the process may use, ascending.
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

// A function of the library, or an Error when this library has none of that name.
template <class Function> Function *functionOf(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (!found)
    fail("hwloc has no ", name);
  return reinterpret_cast<Function *>(found);
}
#define HWLOC(name) functionOf<decltype(name)>(library, #name)

// Empty when hwloc is not there, or is not the one that this was compiled for.
std::vector<int> coresOfHwloc(const std::vector<int> &allowed) try {
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

// A line of /sys/devices/system/cpu/cpu3/topology/, or nothing.
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
    std::string siblings = topologyLine(cpu, "thread_siblings_list"); // its own core, if unknown
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

std::vector<int> braid::coresInOrder() {
  std::vector<int> allowed = allowedThreads(), cores = coresOfHwloc(allowed);
  if (cores.empty())
    cores = coresOfKernel(allowed);
  return cores.empty() ? std::vector<int>{0} : cores;
}
