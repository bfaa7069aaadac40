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

/// Returns the name of a result in reports: of a gradient or a parameter the parameter's, with ".grad" for a gradient;
/// else the layer and the name that the graph or a decomposition gives the value, as "h.0.ln_2.normed"; else the layer
/// or op in the location, or the name of the action, with "#" and the number of the result if there are several.
std::string tensorName(mlir::Operation *action, unsigned result);

} // namespace braid

#endif // BRAID_LIB_MEMORY_LIFETIMES_H
