//===- Messages.h - what ranks of a pipeline send each other ----*- C++ -*-===//
//
// An F sends its activation to the rank of the next stage, a B or an I its gradient to that of
// the stage before; where both stages are on one rank there is no message.
//
// A rank has one queue of messages, sends and receives, which are carried out one after the
// other beside its cells, as collectives are (docs/Design.md, Many ranks): the message at the
// head is over when it is at the head of both ranks' queues and both have started it.  All
// queues are parts of one order of all messages, that in which they are made.  So ranks never
// wait for each other in a circle, and between two ranks sends and receives have the same
// order, whatever the order of the cells that take them.
//
// A rank starts a send behind the cell that makes it.  It starts a receive before the cell that
// takes it, before whatever stands behind it in the queue, and earlier while few others are
// open: until it is started, the sender's queue stands still.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_PIPELINE_MESSAGES_H
#define BRAID_LIB_PIPELINE_MESSAGES_H

#include "lib/Pipeline/Simulate.h"

namespace braid::pipeline {

struct Message {
  /// The cells that make and take it, on two ranks.
  Place producer, consumer;
};

struct RankMessages {
  /// Sends and receives, by their numbers, in order.
  std::vector<unsigned> queue;
  /// How many of the queue are started before each cell, and behind the last.  A cell itself
  /// waits for no message but the one that it takes.
  std::vector<unsigned> started;
  /// The most receives that are started whose cells have not begun: the buffers for them.
  unsigned buffers = 0;
};

struct MessagePlan {
  std::vector<Message> messages;
  std::vector<RankMessages> ranks;
};

/// The message that a cell takes, or that it sends; none if it has none.
struct CellMessages {
  std::optional<unsigned> receive, send;
};
/// By rank and by its cells.
std::vector<std::vector<CellMessages>> messagesOfCells(const Schedule &schedule, const std::vector<Message> &messages);

/// As many as cost no time in the schedules that have a name, if messages take none.
inline constexpr unsigned kReceivesAhead = 4;

/// Messages are in the order in which their cells end in the simulation.  Receives are started
/// early while fewer than `ahead` are open.  O(messages log messages).
MessagePlan planMessages(const Schedule &schedule, const Simulation &simulation, unsigned ahead = kReceivesAhead);

/// Whether each message is of cells that make and take it, is in both queues once and in the
/// same order as others between the two ranks, is started behind its producer and before its
/// consumer, and whether all cells and messages come to an end.
llvm::Error verify(const Schedule &schedule, const MessagePlan &plan);

/// When each cell is if messages are carried out by queues: one after the other, each occupying
/// both queues for its time, while `simulate` lets them pass each other.  With times that passed
/// `check`, and a plan that was verified.
Simulation simulateQueues(const Schedule &schedule, const std::vector<StageTimes> &stages, const MessagePlan &plan);

} // namespace braid::pipeline

#endif // BRAID_LIB_PIPELINE_MESSAGES_H
