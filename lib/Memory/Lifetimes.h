//===- Lifetimes.h - when storages are live, and their names ---*- C++ -*-===//
#ifndef BRAID_LIB_MEMORY_LIFETIMES_H
#define BRAID_LIB_MEMORY_LIFETIMES_H

#include "lib/Memory/BufferAssignment.h"
#include "lib/Schedule/LiveBytes.h"
#include "lib/Target/TargetInfo.h"

namespace braid {

/// Numbers the actions of `block`, whose values all have places.  Finds the live range and
/// the writer of each storage, and names the storages that have no name yet.
void findLifetimes(mlir::Block &block, Places &places);

/// The scratch memory that library calls of all programs share.
int64_t workspaceBytes(llvm::ArrayRef<exec::ActionOpInterface> actions, const TargetInfo &target);

/// What a program needs beside persistent tensors, with its users in the order of
/// `places.actions`: the workspace first if it uses any, then each storage that is used, or that
/// the caller uses.  These are the buffers that the planner places in the arena.
std::vector<LiveBuffer> liveBuffers(const Places &places, int64_t workspace, const TargetInfo &target);

/// The name of a result in reports: the name in the op's location, or else the name of the
/// action.
std::string tensorName(mlir::Operation *action, unsigned result);

} // namespace braid

#endif // BRAID_LIB_MEMORY_LIFETIMES_H
