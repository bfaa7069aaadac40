//===- Lifetimes.h - numbering lives anew -----------------------*- C++ -*-===//
#ifndef BRAID_LIB_MEMORY_LIFETIMES_H
#define BRAID_LIB_MEMORY_LIFETIMES_H

#include "dialects/Exec/Exec.h"

namespace braid {

/// Sets `first` and `last` of the program's buffers from the actions that use
/// them.  A pass that merges or moves actions of a planned program calls this;
/// whether buffers that now live longer collide is for `verifyPlan` to say.
void renumberLifetimes(exec::ProgramOp program);

} // namespace braid

#endif // BRAID_LIB_MEMORY_LIFETIMES_H
