//===- Topology.h - the cores of this process, in the machine's order -----===//
#ifndef BRAID_HOST_TOPOLOGY_H
#define BRAID_HOST_TOPOLOGY_H

#include <vector>

namespace braid {

// Physical cores that this process may run on, by the number of the first of their
// hyperthreads that it may use.  Neighbours in the list share what cores can share:
// caches, memory, a package.  Never empty.
//
// hwloc knows the machine's order where it is installed (at run time: a program
// needs it neither to be linked nor to run); else the kernel's numbers of packages
// and cores say it.
std::vector<int> coresInOrder();

} // namespace braid
#endif // BRAID_HOST_TOPOLOGY_H
