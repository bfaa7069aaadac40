//===- Packs.h - parameters that lie side by side ---------------*- C++ -*-===//
//
// Parameters whose arguments have the same `exec.pack`, a name, lie side by side in the
// order of arguments (exec-form-packs).  Their concatenation along dim 0 is then no work:
// it is the memory that they are in.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MEMORY_PACKS_H
#define BRAID_LIB_MEMORY_PACKS_H

#include "dialects/Exec/Exec.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// The name of the pack that an argument is in, or null.
mlir::StringAttr packOf(mlir::BlockArgument argument);

/// The name of the pack that a concatenation is, or null.
mlir::StringAttr packOf(exec::ConcatOp concat);

} // namespace braid

#endif // BRAID_LIB_MEMORY_PACKS_H
