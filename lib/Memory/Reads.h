//===- Reads.h - which ops read the bytes of a value ------------*- C++ -*-===//
//
// Views read nothing: reading a view reads its source.  These queries look through
// views.
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
/// The op of the program that an operand belongs to: the operand's owner, or the
/// action whose region holds it.
mlir::Operation *readerOf(mlir::OpOperand &read);
/// All values that an op uses, in its regions too.
llvm::SmallVector<mlir::Value> usesOf(mlir::Operation *op);
/// Whether every read of `root`, except those by `except`, ends before `op`.
bool readsEndBefore(mlir::Value root, mlir::Operation *op, mlir::Operation *except = nullptr);
/// Whether `action` may write `result` over `root`: every read of `root` ends before
/// `action`, or is a read by `action` itself of an element that it then overwrites.
bool mayOverwrite(mlir::Value root, exec::ActionOpInterface action, unsigned result);
/// Whether `action` may write several results over parts of `root` that it reads, which are
/// all of it; `resultAt` is the result that is written over a part, if one is.
bool mayOverwriteParts(mlir::Value root, exec::ActionOpInterface action,
                       llvm::function_ref<std::optional<unsigned>(mlir::Value)> resultAt);

} // namespace braid

#endif // BRAID_LIB_MEMORY_READS_H
