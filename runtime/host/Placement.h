//===- Placement.h - which cores the threads of a rank run on -------------===//
//
// Ranks on one host share its cores: neighbouring ranks have neighbouring cores,
// each a range of its own.  Whoever started the process may have bound it to some
// cores already; then those are the rank's, and nothing is moved.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_HOST_PLACEMENT_H
#define BRAID_HOST_PLACEMENT_H

#include <vector>

namespace braid {

enum class Pin { Auto, On, Off };

// A rank's place among those on its host.
struct HostShare {
  int rank = 0, ranks = 1;
  bool isBound = false; // to cores that the launcher chose
};

// Physical cores of this process, by the number of one of their hyperthreads, in
// the order of the machine: neighbours share caches and memory.
const std::vector<int> &processCores();

struct Placement {
  int threads = 1;
  // A hyperthread a thread; none if threads go where the system puts them.
  std::vector<int> cpus;
};

// `threads` of 0 is a fair share of the cores.  `Auto` pins ranks that share a
// machine which is theirs: not those that are bound, and neither where there are
// more threads than cores nor where the process has only a part of the machine.
// Throws Error when `On` cannot be done.
Placement placeRank(int threads, Pin pin, const HostShare &share);

// Restricts the calling thread, and those that it starts, to the rank's cores.
void enterCores(const Placement &placement);
// Gives each thread of the calling thread's pool a core of its own.
void pinPool(const Placement &placement);

} // namespace braid
#endif // BRAID_HOST_PLACEMENT_H
