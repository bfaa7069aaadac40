//===- VerifyMessages.cpp - verification of message plans -----------------===//
//
// Independent of the order that the plan was made from. Compares messages with the
// schedule and queues with messages, and then executes both.
//
//===----------------------------------------------------------------------===//

#include "lib/Pipeline/Failure.h"
#include "lib/Pipeline/Messages.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid::pipeline;
using llvm::Error;

namespace {

class MessageVerifier {
public:
  MessageVerifier(const Schedule &schedule, const MessagePlan &plan) : schedule(schedule), plan(plan) {}
  Error run();

private:
  Error checkMessages();
  Error checkQueue(unsigned rank);
  Error checkStarts(unsigned rank);
  Error checkPairs();
  Error rehearse();
  bool computes(unsigned rank);
  bool completes(unsigned rank);

  std::string where(Place place) const {
    const Cell &cell = schedule.at(place);
    return llvm::formatv("rank {0}, step {1}: {2}", place.rank, cell.step, cell.str());
  }
  std::string describe(unsigned number) const {
    const Message &message = plan.messages[number];
    return llvm::formatv("the message from {0} on rank {1} to {2} on rank {3}", schedule.at(message.producer).str(),
                         message.producer.rank, schedule.at(message.consumer).str(), message.consumer.rank);
  }
  /// Returns the message at the head of a rank's queue; no value if all are complete or it is not started.
  std::optional<unsigned> head(unsigned rank) const {
    const RankMessages &messages = plan.ranks[rank];
    return messagesDone[rank] < messages.started[cellsDone[rank]] ? std::optional(messages.queue[messagesDone[rank]])
                                                                  : std::nullopt;
  }

  const Schedule &schedule;
  const MessagePlan &plan;
  std::vector<std::vector<CellMessages>> cells;
  /// Position of each message in the queues of its sender and of its receiver.
  std::vector<std::pair<unsigned, unsigned>> positions;
  /// For each rank, the number of completed cells, and of completed messages.
  std::vector<unsigned> cellsDone, messagesDone;
  /// Ranks that may be able to advance.
  llvm::SmallVector<unsigned> ready;
};

} // namespace

/// Fails unless the messages are those that the schedule needs, each once.
Error MessageVerifier::checkMessages() {
  size_t needed = 0;
  for (auto [rank, row] : llvm::enumerate(schedule.getTable().rows))
    for (const Cell &cell : row)
      if (std::optional<Place> reader = schedule.readerOf(cell))
        needed += reader->rank != rank;
  std::vector<std::vector<bool>> sends;
  for (const Table::Row &row : schedule.getTable().rows)
    sends.emplace_back(row.size());
  for (auto [number, message] : llvm::enumerate(plan.messages)) {
    for (Place place : {message.producer, message.consumer})
      if (place.rank >= sends.size() || place.index >= sends[place.rank].size())
        return failure("message {0} belongs to a cell that does not exist", number);
    if (schedule.readerOf(schedule.at(message.producer)) != message.consumer ||
        message.producer.rank == message.consumer.rank)
      return failure("{0} connects cells that exchange no message", describe(number));
    if (sends[message.producer.rank][message.producer.index])
      return failure("{0} occurs twice", describe(number));
    sends[message.producer.rank][message.producer.index] = true;
  }
  if (plan.messages.size() != needed)
    return failure("the plan has {0}, but the schedule needs {1}", counted(plan.messages.size(), "message"), needed);
  return Error::success();
}

/// Fails unless each message of the rank is in its queue once.
Error MessageVerifier::checkQueue(unsigned rank) {
  constexpr unsigned kNowhere = ~0u;
  size_t needed = 0;
  for (const CellMessages &cell : cells[rank])
    needed += cell.receive.has_value() + cell.send.has_value();
  const RankMessages &messages = plan.ranks[rank];
  for (auto [position, number] : llvm::enumerate(messages.queue)) {
    if (number >= plan.messages.size())
      return failure("rank {0} queues message {1} of {2}", rank, number, plan.messages.size());
    const Message &message = plan.messages[number];
    bool isSend = message.producer.rank == rank;
    if (!isSend && message.consumer.rank != rank)
      return failure("rank {0} queues {1}", rank, describe(number));
    unsigned &seen = isSend ? positions[number].first : positions[number].second;
    if (seen != kNowhere)
      return failure("rank {0} queues {1} twice", rank, describe(number));
    seen = position;
  }
  if (messages.queue.size() != needed)
    return failure("rank {0} queues {1} instead of {2}", rank, counted(messages.queue.size(), "message"), needed);
  return Error::success();
}

Error MessageVerifier::checkStarts(unsigned rank) {
  const RankMessages &messages = plan.ranks[rank];
  if (messages.started.size() != cells[rank].size() + 1 || !llvm::is_sorted(messages.started) ||
      messages.started.back() != messages.queue.size())
    return failure("rank {0} does not start its {1} along its {2}", rank, counted(messages.queue.size(), "message"),
                   counted(cells[rank].size(), "cell"));
  for (auto [index, cell] : llvm::enumerate(cells[rank])) {
    Place place = {rank, static_cast<unsigned>(index)};
    if (cell.receive && positions[*cell.receive].second >= messages.started[index])
      return failure("{0} begins before {1} is started", where(place), describe(*cell.receive));
    if (cell.send && positions[*cell.send].first < messages.started[index])
      return failure("{0} has not begun when {1} is started", where(place), describe(*cell.send));
  }
  return Error::success();
}

/// Fails unless messages from one rank to another are received in the order in which they are sent.
Error MessageVerifier::checkPairs() {
  llvm::DenseMap<std::pair<unsigned, unsigned>, unsigned> last;
  for (unsigned rank = 0; rank < schedule.numRanks(); ++rank)
    for (unsigned number : plan.ranks[rank].queue) {
      const Message &message = plan.messages[number];
      if (message.producer.rank != rank)
        continue;
      auto [entry, isFirst] = last.try_emplace({rank, message.consumer.rank}, number);
      if (!isFirst && positions[entry->second].second > positions[number].second)
        return failure("{0} is sent before {1}, and received after it", describe(entry->second), describe(number));
      entry->second = number;
    }
  return Error::success();
}

/// Runs the next cell of a rank if its inputs are there.
bool MessageVerifier::computes(unsigned rank) {
  unsigned index = cellsDone[rank];
  if (index == cells[rank].size())
    return false;
  std::optional<unsigned> receive = cells[rank][index].receive;
  if (receive && positions[*receive].second >= messagesDone[rank])
    return false;
  ++cellsDone[rank]; // inputs on the same rank come before it: the schedule was verified
  return true;
}

/// Completes the message at the head of a rank's queue, if it is also at the head of the other rank's.
bool MessageVerifier::completes(unsigned rank) {
  std::optional<unsigned> number = head(rank);
  if (!number)
    return false;
  const Message &message = plan.messages[*number];
  unsigned other = message.producer.rank == rank ? message.consumer.rank : message.producer.rank;
  if (head(other) != number)
    return false;
  ++messagesDone[rank];
  ++messagesDone[other];
  ready.push_back(other);
  return true;
}

Error MessageVerifier::rehearse() {
  cellsDone.assign(schedule.numRanks(), 0);
  messagesDone.assign(schedule.numRanks(), 0);
  for (unsigned rank = 0; rank < schedule.numRanks(); ++rank)
    ready.push_back(rank);
  while (!ready.empty()) {
    unsigned rank = ready.pop_back_val();
    while (computes(rank) || completes(rank))
      ;
  }
  for (unsigned rank = 0; rank < schedule.numRanks(); ++rank) {
    std::string rest = head(rank) ? ", and its queue for " + describe(*head(rank)) : "";
    if (cellsDone[rank] < cells[rank].size())
      return failure("deadlock: {0} waits for {1}{2}", where({rank, cellsDone[rank]}),
                     describe(*cells[rank][cellsDone[rank]].receive), rest);
    if (messagesDone[rank] < plan.ranks[rank].queue.size())
      return failure("deadlock: rank {0} is done{1}", rank, rest);
  }
  return Error::success();
}

Error MessageVerifier::run() {
  if (plan.ranks.size() != schedule.numRanks())
    return failure("the plan is for {0}, but the schedule for {1}", counted(plan.ranks.size(), "rank"),
                   schedule.numRanks());
  if (Error error = checkMessages())
    return error;
  cells = messagesOfCells(schedule, plan.messages);
  positions.assign(plan.messages.size(), {~0u, ~0u});
  for (unsigned rank = 0; rank < schedule.numRanks(); ++rank)
    if (Error error = checkQueue(rank))
      return error;
  for (unsigned rank = 0; rank < schedule.numRanks(); ++rank)
    if (Error error = checkStarts(rank))
      return error;
  if (Error error = checkPairs())
    return error;
  return rehearse();
}

Error braid::pipeline::verify(const Schedule &schedule, const MessagePlan &plan) {
  return MessageVerifier(schedule, plan).run();
}
