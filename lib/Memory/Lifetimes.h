//===- Lifetimes.h - when storages are live, and their names ---*- C++ -*-===//
#ifndef BRAID_LIB_MEMORY_LIFETIMES_H
#define BRAID_LIB_MEMORY_LIFETIMES_H

#include "lib/Memory/Places.h"

namespace braid {

/// Numbers the actions of `block`, whose values all have places, and finds each
/// storage's first and last action, its writer and the name of what has none.
void findLifetimes(mlir::Block &block, Places &places);

/// What the op is called in reports: the name its location carries, or its
/// action's name.
std::string tensorName(mlir::Operation *action, unsigned result);

} // namespace braid

#endif // BRAID_LIB_MEMORY_LIFETIMES_H
