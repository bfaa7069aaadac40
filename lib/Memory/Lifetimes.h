//===- Lifetimes.h - between which actions storages are live ----*- C++ -*-===//
#ifndef BRAID_LIB_MEMORY_LIFETIMES_H
#define BRAID_LIB_MEMORY_LIFETIMES_H

#include "lib/Memory/Places.h"

namespace braid {

/// Numbers the actions of `block`, whose values all have places, and finds each
/// storage's first and last action, its writer and the name of what has none.
void findLifetimes(mlir::Block &block, Places &places);

} // namespace braid

#endif // BRAID_LIB_MEMORY_LIFETIMES_H
