//===- Reads.h - who reads the bytes of a value -----------------*- C++ -*-===//
//
// Views read nothing: reading a view reads its source.  These questions see
// through them.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MEMORY_READS_H
#define BRAID_LIB_MEMORY_READS_H

#include "dialects/Exec/Exec.h"

namespace braid {

/// The value whose bytes these are: the source of a view of a view of …
mlir::Value rootOf(mlir::Value value);
/// Every operand that reads `root` or a view of it, views themselves left out.
void forEachRead(mlir::Value root, llvm::function_ref<void(mlir::OpOperand &)> visit);
/// Whether every read of `root`, those by `except` left out, comes before `op`.
bool readsEndBefore(mlir::Value root, mlir::Operation *op, mlir::Operation *except = nullptr);
/// Whether `action` may write `result` over `root`: every read comes before it,
/// or is its own and is of an element that it then overwrites.
bool mayOverwrite(mlir::Value root, exec::ActionOpInterface action, unsigned result);

} // namespace braid

#endif // BRAID_LIB_MEMORY_READS_H
