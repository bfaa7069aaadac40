//===- Bounds.h - which ints an input may hold ------------------*- C++ -*-===//
#ifndef BRAID_LIB_REFERENCE_BOUNDS_H
#define BRAID_LIB_REFERENCE_BOUNDS_H

#include "lib/Reference/Program.h"

namespace braid::reference {

/// Sets the bound and the ignored index of an input from the tables that it
/// indexes and the classes that it names.
void findBound(mlir::BlockArgument argument, InputSlot &slot);

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_BOUNDS_H
