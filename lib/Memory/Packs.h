//===- Packs.h - adjacent parameters ----------------------------*- C++ -*-===//
//
// Parameters whose arguments have the same `exec.pack`, a name, are adjacent in memory,
// in the order of arguments (exec-form-packs). Their concatenation along dim 0 then needs
// no work: it is the memory that they are in.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MEMORY_PACKS_H
#define BRAID_LIB_MEMORY_PACKS_H

#include "dialects/Exec/Exec.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// Returns the name of the pack that contains an argument, or null.
mlir::StringAttr packOf(mlir::BlockArgument argument);

/// Returns the name of the pack that a concatenation equals, or null.
mlir::StringAttr packOf(exec::ConcatOp concat);

} // namespace braid

#endif // BRAID_LIB_MEMORY_PACKS_H
