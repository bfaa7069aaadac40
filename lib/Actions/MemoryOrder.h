//===- MemoryOrder.h - dependences from shared memory -----------*- C++ -*-===//
//
// Buffer assignment is decided for one order of the actions. It also holds for every
// other order that reads data before it is overwritten. So aliasing adds edges between
// actions, beside the edges of values.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_ACTIONS_MEMORYORDER_H
#define BRAID_LIB_ACTIONS_MEMORYORDER_H

#include "lib/Memory/BufferAssignment.h"

namespace braid {

/// Returns for each action, numbered as in `places.actions`, the earlier actions that read or write
/// bytes which it overwrites. Leaves out actions that must come before another of these anyway.
std::vector<llvm::SmallVector<unsigned, 4>> memoryOrder(const Places &places);

} // namespace braid

#endif // BRAID_LIB_ACTIONS_MEMORYORDER_H
