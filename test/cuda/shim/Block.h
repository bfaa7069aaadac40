//===- Block.h - runs the threads of a block ------------------------------===//
//
// Threads run one after the other, each until it waits for others or ends, on fibers; one
// that waits for nobody costs no switch.  At a barrier it checks that all threads
// arrive at the same one: a barrier that some threads leave out, or another one, is a
// divergence.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_SHIM_BLOCK_H
#define BRAID_SHIM_BLOCK_H

#include "shim/Types.h"

#include <functional>
#include <vector>

namespace shim {

struct Allocation;

// What a launch did: its first segment, and the memory that it touched.
struct Ran {
  uint32_t launch;
  std::vector<Allocation *> touched;
};

// Runs all blocks of a launch on this thread of the host.  One that `beginsEarly` waits in each
// thread for what is in front of it, before anything else.
Ran runBlocks(dim3 blocks, dim3 threads, const std::function<void()> &thread, bool beginsEarly);

} // namespace shim
#endif // BRAID_SHIM_BLOCK_H
