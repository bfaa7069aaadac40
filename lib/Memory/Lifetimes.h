//===- Lifetimes.h - live ranges and names of storages ----------*- C++ -*-===//
#ifndef BRAID_LIB_MEMORY_LIFETIMES_H
#define BRAID_LIB_MEMORY_LIFETIMES_H

#include "lib/Memory/BufferAssignment.h"
#include "lib/Schedule/LiveBytes.h"
#include "lib/Target/TargetInfo.h"

namespace braid {

/// Numbers the actions of `block`, whose values all have places. Finds the live range and
/// the writer of each storage, and names the storages without a name.
void findLifetimes(mlir::Block &block, Places &places);

/// Returns the bytes of scratch memory that the library calls of all programs share.
int64_t workspaceBytes(llvm::ArrayRef<exec::ActionOpInterface> actions, const TargetInfo &target);

/// Returns the buffers that the planner places in the arena beside persistent tensors, with
/// their users in the order of `places.actions`. The workspace comes first if it is used, then
/// each storage that the program or the caller uses.
std::vector<LiveBuffer> liveBuffers(const Places &places, int64_t workspace, const TargetInfo &target);

} // namespace braid

#endif // BRAID_LIB_MEMORY_LIFETIMES_H
