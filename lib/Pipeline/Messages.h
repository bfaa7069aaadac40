//===- Messages.h - messages between the ranks of a pipeline ----*- C++ -*-===//
//
// An F sends its activation to the rank of the next stage. A B or an I sends its gradient to
// the rank of the previous stage. There is no message if both stages are on one rank.
//
// Each rank has one queue of messages, both sends and receives. They run one after the other
// beside the rank's cells, like collectives (docs/Design.md, Many ranks). A message completes
// when it is at the head of both ranks' queues and both ranks have started it. All queues are
// parts of one order of all messages, the order in which they are made. So ranks never
// deadlock, and the sends of one rank to another match the order of receives, whatever the
// order of the cells that consume them.
//
// A rank starts a send after the cell that makes it. It starts a receive before the cell that
// consumes it and before everything behind it in the queue, and earlier while few others are
// open, because the sender's queue stalls until the receive is started.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_PIPELINE_MESSAGES_H
#define BRAID_LIB_PIPELINE_MESSAGES_H

#include "lib/Pipeline/Simulate.h"

namespace braid::pipeline {

struct Message {
  /// Cells that make and consume the message, on two ranks.
  Place producer, consumer;
};

struct RankMessages {
  /// Numbers of its sends and receives, in order.
  std::vector<unsigned> queue;
  /// Number of messages of the queue that are started before each cell, and after the last.
  /// A cell itself waits only for the message that it consumes.
  std::vector<unsigned> started;
  /// Peak number of started receives whose cells have not begun, which is the number of receive buffers.
  unsigned buffers = 0;
};

struct MessagePlan {
  std::vector<Message> messages;
  std::vector<RankMessages> ranks;
};

/// The messages that a cell consumes and sends; no value if it has none.
struct CellMessages {
  std::optional<unsigned> receive, send;
};
/// Returns the messages of each cell, by rank and by the rank's cells.
std::vector<std::vector<CellMessages>> messagesOfCells(const Schedule &schedule, const std::vector<Message> &messages);

/// Default number of receives that are started ahead. It costs no time in the named schedules if messages take none.
inline constexpr unsigned kReceivesAhead = 4;

/// Orders messages by the end of their producers in the simulation. Starts receives early
/// while fewer than `ahead` are open. O(messages log messages).
MessagePlan planMessages(const Schedule &schedule, const Simulation &simulation, unsigned ahead = kReceivesAhead);

/// Fails unless all cells and messages complete and each message
/// - connects the cell that makes it and the cell that consumes it,
/// - is in both queues once, in the same order as others between the two ranks, and
/// - is started after its producer and before its consumer.
llvm::Error verify(const Schedule &schedule, const MessagePlan &plan);

/// Returns the times of all cells if messages run in queues: one after the other, each occupying
/// both queues for its time, whereas `simulate` lets them pass each other. Requires times that
/// passed `check`, and a verified plan.
Simulation simulateQueues(const Schedule &schedule, const std::vector<StageTimes> &stages, const MessagePlan &plan);

} // namespace braid::pipeline

#endif // BRAID_LIB_PIPELINE_MESSAGES_H
