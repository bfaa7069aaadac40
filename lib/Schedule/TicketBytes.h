//===- TicketBytes.h - who touches the bytes of a collective? ---*- C++ -*-===//
//
// The rule of DESIGN, "Replay", in memory form: from start to wait the operands
// of a collective stay as they are, and nobody else touches its results.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SCHEDULE_TICKETBYTES_H
#define BRAID_LIB_SCHEDULE_TICKETBYTES_H

#include "mlir/IR/BuiltinOps.h"

namespace braid {

/// Emits an error where an action of an exec.program, between a comm.start and
/// its wait, writes bytes that the collective sends or touches bytes that it
/// receives, and where a buffer dies before the wait.  Bytes are those of the
/// arena: it does not matter by which buffer they are reached.
mlir::LogicalResult verifyTicketBytes(mlir::ModuleOp module);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_TICKETBYTES_H
