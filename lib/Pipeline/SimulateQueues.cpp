//===- SimulateQueues.cpp - times of cells with messages in queues --------===//

#include "lib/Pipeline/Messages.h"

using namespace braid::pipeline;

namespace {

/// Completes cells and messages in any order: the clocks of a rank and of its queues determine each time.
class QueueSimulator {
public:
  QueueSimulator(const Schedule &schedule, const std::vector<StageTimes> &stages, const MessagePlan &plan)
      : schedule(schedule), stages(stages), plan(plan), cells(messagesOfCells(schedule, plan.messages)),
        ranks(schedule.numRanks()), arrivals(plan.messages.size(), kNever), result(schedule) {}
  Simulation run();

private:
  static constexpr double kNever = -1;

  struct Rank {
    /// Number of completed cells and of completed messages, and the end of the last of each.
    unsigned cellsDone = 0, messagesDone = 0;
    double free = 0, queueFree = 0;
    /// Start times of the messages of the queue.
    std::vector<double> starts;
  };

  void start(unsigned rank);
  bool computes(unsigned rank);
  bool completes(unsigned rank);
  /// Returns whether a message is at the head of a queue, and started.
  bool isHead(unsigned rank, unsigned number) const {
    const Rank &state = ranks[rank];
    return state.messagesDone < state.starts.size() && plan.ranks[rank].queue[state.messagesDone] == number;
  }

  const Schedule &schedule;
  const std::vector<StageTimes> &stages;
  const MessagePlan &plan;
  std::vector<std::vector<CellMessages>> cells;
  std::vector<Rank> ranks;
  /// Arrival time of each message.
  std::vector<double> arrivals;
  std::vector<unsigned> ready;
  Simulation result;
};

} // namespace

/// Starts the messages that are due before the next cell.
void QueueSimulator::start(unsigned rank) {
  Rank &state = ranks[rank];
  state.starts.resize(plan.ranks[rank].started[state.cellsDone], state.free);
}

bool QueueSimulator::computes(unsigned rank) {
  Rank &state = ranks[rank];
  if (state.cellsDone == cells[rank].size())
    return false;
  double begin = state.free;
  if (std::optional<unsigned> receive = cells[rank][state.cellsDone].receive) {
    if (arrivals[*receive] == kNever)
      return false;
    begin = std::max(begin, arrivals[*receive]);
  }
  Place place = {rank, state.cellsDone};
  const Cell &cell = schedule.at(place);
  result.put(place, begin, stages[cell.stage].of(cell.action));
  state.free = result.spans[rank][state.cellsDone++].end;
  start(rank);
  return true;
}

bool QueueSimulator::completes(unsigned rank) {
  Rank &state = ranks[rank];
  if (state.messagesDone == state.starts.size())
    return false;
  unsigned number = plan.ranks[rank].queue[state.messagesDone];
  const Message &message = plan.messages[number];
  Rank &sender = ranks[message.producer.rank], &receiver = ranks[message.consumer.rank];
  if (!isHead(message.producer.rank, number) || !isHead(message.consumer.rank, number))
    return false;
  double begin = 0;
  for (const Rank *side : {&sender, &receiver})
    begin = std::max({begin, side->starts[side->messagesDone], side->queueFree});
  const Cell &producer = schedule.at(message.producer);
  arrivals[number] = begin + stages[producer.stage].ofMessage(producer.action);
  for (Rank *side : {&sender, &receiver}) {
    ++side->messagesDone;
    side->queueFree = arrivals[number];
  }
  ready.push_back(&state == &sender ? message.consumer.rank : message.producer.rank);
  return true;
}

Simulation QueueSimulator::run() {
  for (unsigned rank = 0; rank < ranks.size(); ++rank) {
    start(rank);
    ready.push_back(rank);
  }
  while (!ready.empty()) {
    unsigned rank = ready.back();
    ready.pop_back();
    while (computes(rank) || completes(rank))
      ;
  }
  result.finish();
  return std::move(result);
}

Simulation braid::pipeline::simulateQueues(const Schedule &schedule, const std::vector<StageTimes> &stages,
                                           const MessagePlan &plan) {
  return QueueSimulator(schedule, stages, plan).run();
}
