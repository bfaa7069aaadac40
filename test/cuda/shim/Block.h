//===- Block.h - runs the threads of a block ------------------------------===//
//
// Threads run on fibers, one after the other, each until it waits for others or ends. A thread that never waits costs
// no switch. At a barrier, all threads must arrive at the same one: a barrier that some threads skip, or different
// barriers, are a divergence.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_SHIM_BLOCK_H
#define BRAID_SHIM_BLOCK_H

#include "shim/Types.h"

#include <functional>
#include <vector>

namespace shim {

struct Allocation;

// Record of a launch: its first segment, and the memory that it accessed.
struct Ran {
  uint32_t launch;
  std::vector<Allocation *> touched;
};

// Runs all blocks of a launch on this host thread. With `beginsEarly`, each thread must first wait for the kernel in
// front.
Ran runBlocks(dim3 blocks, dim3 threads, const std::function<void()> &thread, bool beginsEarly);

} // namespace shim
#endif // BRAID_SHIM_BLOCK_H
