//===- Lifetimes.h - when storages are live, and their names ---*- C++ -*-===//
#ifndef BRAID_LIB_MEMORY_LIFETIMES_H
#define BRAID_LIB_MEMORY_LIFETIMES_H

#include "lib/Memory/BufferAssignment.h"

namespace braid {

/// Numbers the actions of `block`, whose values all have places.  Finds the live range and
/// the writer of each storage, and names the storages that have no name yet.
void findLifetimes(mlir::Block &block, Places &places);

/// The name of a result in reports: the name in the op's location, or else the name of the
/// action.
std::string tensorName(mlir::Operation *action, unsigned result);

} // namespace braid

#endif // BRAID_LIB_MEMORY_LIFETIMES_H
