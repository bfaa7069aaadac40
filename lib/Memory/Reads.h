//===- Reads.h - reads of the bytes of a value ------------------*- C++ -*-===//
//
// Views read nothing: a read of a view reads its source. These queries look through views.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MEMORY_READS_H
#define BRAID_LIB_MEMORY_READS_H

#include "dialects/Exec/Exec.h"

namespace braid {

/// Returns the value that owns the bytes: the source of a view of a view of …
mlir::Value rootOf(mlir::Value value);
/// Visits every operand that reads `root` or a view of it, except the operands of views.
void forEachRead(mlir::Value root, llvm::function_ref<void(mlir::OpOperand &)> visit);
/// Returns the op of the program that an operand belongs to: the operand's owner, or
/// the action whose region contains it.
mlir::Operation *readerOf(mlir::OpOperand &read);
/// Returns all values that an op uses, in its regions too.
llvm::SmallVector<mlir::Value> usesOf(mlir::Operation *op);
/// Returns whether every read of `root`, except those by `excluded`, ends before `op`.
bool readsEndBefore(mlir::Value root, mlir::Operation *op, mlir::Operation *excluded = nullptr);
/// Returns whether `action` may write `result` over `root`. Every read of `root` must end
/// before `action`, or be a read by `action` itself of an element that it then overwrites.
bool mayOverwrite(mlir::Value root, exec::ActionOpInterface action, unsigned result);
/// Returns whether `action` may write several results over the parts of `root` that it reads, which
/// must be all of it. `resultAt` returns the result that overwrites a part, if there is one.
bool mayOverwriteParts(mlir::Value root, exec::ActionOpInterface action,
                       llvm::function_ref<std::optional<unsigned>(mlir::Value)> resultAt);

} // namespace braid

#endif // BRAID_LIB_MEMORY_READS_H
