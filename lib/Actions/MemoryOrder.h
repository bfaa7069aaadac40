//===- MemoryOrder.h - the order that shared memory asks for ----*- C++ -*-===//
//
// Buffer assignment is decided for one order of the actions.  It is right for every
// other order in which what is read is read before it is overwritten: aliasing becomes
// edges between actions, beside those that values make.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_ACTIONS_MEMORYORDER_H
#define BRAID_LIB_ACTIONS_MEMORYORDER_H

#include "lib/Memory/BufferAssignment.h"

namespace braid {

/// For each action, numbered as in `places.actions`, the earlier ones that read or write bytes
/// which it overwrites, but for those that come before one of these anyway.
std::vector<llvm::SmallVector<unsigned, 4>> memoryOrder(const Places &places);

} // namespace braid

#endif // BRAID_LIB_ACTIONS_MEMORYORDER_H
