//===- RecordReads.h - which writes each read must see ----------*- C++ -*-===//
#ifndef BRAID_LIB_MEMORY_RECORDREADS_H
#define BRAID_LIB_MEMORY_RECORDREADS_H

#include "dialects/Exec/ValueReads.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid {

/// What every operand and result of a program on values consists of.  Follows uses to definitions
/// and knows nothing of storages and live ranges.
exec::ProgramReads readsOf(mlir::func::FuncOp program);

/// Where an action of a program in memory form went: into action `action`, behind `firstOut` outs
/// of others.
struct MovedAction {
  int64_t action, firstOut;
};

/// The same reads where actions have moved and joined others.  Operands of an action that joined
/// stand behind those of the ones before it.
exec::ProgramReads movedReads(const exec::ProgramReads &reads, llvm::ArrayRef<MovedAction> moved);

} // namespace braid

#endif // BRAID_LIB_MEMORY_RECORDREADS_H
