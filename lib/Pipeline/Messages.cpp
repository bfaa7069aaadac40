//===- Messages.cpp - messages between the ranks of a pipeline ------------===//

#include "lib/Pipeline/Messages.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid::pipeline;

std::vector<std::vector<CellMessages>> braid::pipeline::messagesOfCells(const Schedule &schedule,
                                                                        const std::vector<Message> &messages) {
  std::vector<std::vector<CellMessages>> cells;
  for (const Table::Row &row : schedule.getTable().rows)
    cells.emplace_back(row.size());
  for (auto [number, message] : llvm::enumerate(messages)) {
    cells[message.producer.rank][message.producer.index].send = number;
    cells[message.consumer.rank][message.consumer.index].receive = number;
  }
  return cells;
}

/// Returns all messages, in the order in which their producers end. Cells that take no time are
/// ordered so that each follows its inputs.
static std::vector<Message> messagesInOrder(const Schedule &schedule, const Simulation &simulation) {
  std::vector<Message> messages;
  schedule.walk([&](Place place) {
    if (std::optional<Place> reader = schedule.readerOf(schedule.at(place)); reader && reader->rank != place.rank)
      messages.push_back({place, *reader});
  });
  llvm::stable_sort(messages, [&](const Message &a, const Message &b) {
    auto end = [&](const Message &message) {
      return simulation.spans[message.producer.rank][message.producer.index].end;
    };
    return end(a) < end(b);
  });
  return messages;
}

namespace {

/// Walks along the row of a rank and starts the messages of its queue.
class Starts {
public:
  Starts(const std::vector<Message> &messages, const std::vector<CellMessages> &cells, unsigned rank,
         RankMessages &plan, unsigned ahead)
      : messages(messages), cells(cells), rank(rank), plan(plan), ahead(ahead) {}

  void run() {
    for (unsigned index = 0; index < cells.size(); ++index) {
      if (cells[index].receive)
        startThrough(*cells[index].receive);
      startEarly();
      plan.started.push_back(count);
      plan.buffers = std::max(plan.buffers, open);
      open -= cells[index].receive.has_value();
      if (cells[index].send)
        startThrough(*cells[index].send);
    }
    plan.started.push_back(count);
  }

private:
  bool isReceive(unsigned number) const { return messages[number].consumer.rank == rank; }
  /// Starts all messages up to this one. Message numbers grow along the queue.
  void startThrough(unsigned number) {
    while (count < plan.queue.size() && plan.queue[count] <= number)
      open += isReceive(plan.queue[count++]);
  }
  void startEarly() {
    for (; count < plan.queue.size() && isReceive(plan.queue[count]) && open < ahead; ++count)
      ++open;
  }

  const std::vector<Message> &messages;
  const std::vector<CellMessages> &cells;
  unsigned rank;
  RankMessages &plan;
  unsigned ahead;
  /// Number of started messages, and of started receives whose cells have not begun.
  unsigned count = 0, open = 0;
};

} // namespace

MessagePlan braid::pipeline::planMessages(const Schedule &schedule, const Simulation &simulation, unsigned ahead) {
  MessagePlan plan = {messagesInOrder(schedule, simulation), std::vector<RankMessages>(schedule.numRanks())};
  for (auto [number, message] : llvm::enumerate(plan.messages))
    for (Place place : {message.producer, message.consumer})
      plan.ranks[place.rank].queue.push_back(number);
  std::vector<std::vector<CellMessages>> cells = messagesOfCells(schedule, plan.messages);
  for (unsigned rank = 0; rank < schedule.numRanks(); ++rank)
    Starts(plan.messages, cells[rank], rank, plan.ranks[rank], ahead).run();
  return plan;
}
