//===- Messages.h - what ranks of a pipeline send each other ----*- C++ -*-===//
//
// An F sends its activation to the rank of the next stage, a B or an I its gradient to that of
// the stage before; where both stages are on one rank there is no message.  A message is sent
// behind the cell that makes it.  Between two ranks, each way, messages arrive in the order in
// which they were sent, as with NCCL and between threads.  So they must be received in that
// order, too, whatever the order of the cells that take them: a message is received before the
// cell that takes it, and before a cell that takes one that was sent later.  Then the second
// cell waits no longer than it would, because what it waits for was sent later still.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_PIPELINE_MESSAGES_H
#define BRAID_LIB_PIPELINE_MESSAGES_H

#include "lib/Pipeline/Schedule.h"

namespace braid::pipeline {

struct Message {
  /// The cells that make and take it, on two ranks.
  Place producer, consumer;
};

/// What is done at a cell; numbers are those of messages.
struct CellMessages {
  /// Before it, in this order.
  llvm::SmallVector<unsigned, 1> receives;
  /// Behind it.
  std::optional<unsigned> send;
};

struct MessagePlan {
  std::vector<Message> messages;
  /// By rank and by its cells.
  std::vector<std::vector<CellMessages>> rows;
};

MessagePlan planMessages(const Schedule &schedule);

/// Whether every cell has what it takes, each message is sent once and received once, between
/// two ranks in the same order, and ranks that do their cells in order do not wait for each
/// other.
llvm::Error verify(const Schedule &schedule, const MessagePlan &plan);

} // namespace braid::pipeline

#endif // BRAID_LIB_PIPELINE_MESSAGES_H
