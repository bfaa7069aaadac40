//===- RecordReads.h - the writes that each read must see -------*- C++ -*-===//
#ifndef BRAID_LIB_MEMORY_RECORDREADS_H
#define BRAID_LIB_MEMORY_RECORDREADS_H

#include "dialects/Exec/ValueReads.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// Returns the sources of every operand and result of a program on values. Follows uses to
/// definitions, independent of storages and live ranges.
exec::ProgramReads readsOf(mlir::func::FuncOp program);

/// New place of an action in memory form: merged into action `action`, after `firstOut` outs of other actions.
struct MovedAction {
  int64_t action, firstOut;
};

/// Returns the same reads after actions have moved and merged. Operands of a merged action come
/// after those of the actions before it.
exec::ProgramReads movedReads(const exec::ProgramReads &reads, llvm::ArrayRef<MovedAction> moved);

} // namespace braid

#endif // BRAID_LIB_MEMORY_RECORDREADS_H
