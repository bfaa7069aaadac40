//===- Placement.h - cores for the threads of a rank ----------------------===//
//
// Ranks on one host share its cores: each rank has its own range, and neighbouring ranks have
// neighbouring ranges.  If the launcher has already bound the process to some cores, the rank uses
// these, and moves nothing.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_HOST_PLACEMENT_H
#define BRAID_HOST_PLACEMENT_H

#include <vector>

namespace braid {

enum class Pin { Auto, On, Off };

// A rank's number among the ranks on its host.
struct HostShare {
  int rank = 0, ranks = 1;
  bool isBound = false; // to cores chosen by the launcher
};

// Returns the physical cores of this process, each as one of its hyperthreads, in the machine's
// order: neighbours share caches and memory.
const std::vector<int> &processCores();

struct Placement {
  int threads = 1;
  // One hyperthread for each thread; empty if the system places the threads.
  std::vector<int> cpus;
};

// `threads` of 0 means a fair share of the cores.  `Auto` pins ranks that share a whole machine.
// It does not pin bound ranks, more threads than cores, or a process with only part of the machine.
// Throws Error if `On` is impossible.
Placement placeRank(int threads, Pin pin, const HostShare &share);

// Restricts the calling thread, and threads that it starts, to the rank's cores.
void enterCores(const Placement &placement);
// Gives each thread of the calling thread's pool a core of its own.
void pinPool(const Placement &placement);

} // namespace braid
#endif // BRAID_HOST_PLACEMENT_H
