//===- Walk.cpp - steps of each rank --------------------------------------===//

#include "lib/Pipeline/Walk.h"
#include "lib/Pipeline/SlotPool.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid::pipeline;

std::string WalkStep::str() const {
  std::string text = std::to_string(stage);
  if (kind != Run)
    text += isSend ? "SEND_" : "RECV_";
  text += kind == Run || action == Action::Forward ? letterOf(action) : 'B';
  return (kind == Wait ? "wait for " : "") + text + std::to_string(microbatch);
}

namespace {

/// Makes the list of one rank.
class Lister {
public:
  Lister(const Schedule &schedule, const MessagePlan &plan, unsigned rank, Walk &walk)
      : schedule(schedule), plan(plan), rank(rank), walk(walk), steps(walk.ranks[rank]), pools(schedule.numStages()),
        sent(schedule.numStages()) {}

  void run(llvm::ArrayRef<CellMessages> cells);

private:
  void startThrough(unsigned count);
  void start(unsigned number);
  void waitForSendSlot(const Cell &cell);
  void acquireSlots(const Cell &cell);
  void release(const Cell &cell);
  void waitForSend(unsigned stage, Action action, unsigned microbatch) {
    steps.push_back({WalkStep::Wait, action, /*isSend=*/true, stage, microbatch});
  }
  BufferSlots &slots(unsigned stage, Buffer buffer) { return walk.stages[stage][static_cast<unsigned>(buffer)]; }
  void acquireSlot(unsigned stage, Buffer buffer, unsigned microbatch) {
    SlotPool &pool = pools[stage][static_cast<unsigned>(buffer)];
    slots(stage, buffer).slotOf[microbatch] = pool.acquire();
    slots(stage, buffer).count = pool.count;
  }
  void releaseSlot(unsigned stage, Buffer buffer, unsigned microbatch) {
    pools[stage][static_cast<unsigned>(buffer)].release(slots(stage, buffer).slotOf[microbatch]);
  }

  const Schedule &schedule;
  const MessagePlan &plan;
  unsigned rank, numStarted = 0;
  Walk &walk;
  std::vector<WalkStep> &steps;
  std::vector<std::array<SlotPool, kNumBuffers>> pools;
  /// Microbatches that were sent, in order; by stage, for activations and gradients.
  std::vector<std::array<std::vector<unsigned>, 2>> sent;
};

} // namespace

/// Returns the buffer that receives the message at its destination.
static Buffer bufferOfInput(Action action) {
  return action == Action::Forward ? Buffer::ActivationIn : Buffer::GradientIn;
}
static Buffer bufferOfOutput(Action action) {
  return action == Action::Forward ? Buffer::ActivationOut : Buffer::GradientOut;
}

void Lister::start(unsigned number) {
  const Message &message = plan.messages[number];
  bool isSend = message.producer.rank == rank;
  const Cell &cell = schedule.at(isSend ? message.producer : message.consumer);
  Action action = schedule.at(message.producer).action;
  if (!isSend)
    acquireSlot(cell.stage, bufferOfInput(action), cell.microbatch);
  steps.push_back({WalkStep::Start, action, isSend, cell.stage, cell.microbatch});
}

void Lister::startThrough(unsigned count) {
  while (numStarted < count)
    start(plan.ranks[rank].queue[numStarted++]);
}

/// Waits for an earlier send to free its slot: sends share a few slots in turn.
void Lister::waitForSendSlot(const Cell &cell) {
  std::vector<unsigned> &before = sent[cell.stage][cell.action != Action::Forward];
  BufferSlots &out = slots(cell.stage, bufferOfOutput(cell.action));
  if (before.size() >= kSendSlots)
    waitForSend(cell.stage, cell.action, before[before.size() - kSendSlots]);
  out.slotOf[cell.microbatch] = before.size() % kSendSlots;
  out.count = std::max<unsigned>(out.count, out.slotOf[cell.microbatch] + 1);
  before.push_back(cell.microbatch);
}

void Lister::acquireSlots(const Cell &cell) {
  if (cell.action == Action::Forward)
    acquireSlot(cell.stage, Buffer::Saved, cell.microbatch);
  std::optional<Place> reader = schedule.readerOf(cell);
  if (reader && reader->rank == rank)
    acquireSlot(schedule.at(*reader).stage, bufferOfInput(cell.action), cell.microbatch);
  else if (reader)
    waitForSendSlot(cell);
}

void Lister::release(const Cell &cell) {
  releaseSlot(cell.stage, Buffer::Saved, cell.microbatch);
  if (cell.stage > 0)
    releaseSlot(cell.stage, Buffer::ActivationIn, cell.microbatch);
  if (cell.stage + 1 < schedule.numStages())
    releaseSlot(cell.stage, Buffer::GradientIn, cell.microbatch);
}

void Lister::run(llvm::ArrayRef<CellMessages> cells) {
  for (auto [index, cell] : llvm::enumerate(schedule.getTable().rows[rank])) {
    startThrough(plan.ranks[rank].started[index]);
    acquireSlots(cell);
    if (std::optional<unsigned> received = cells[index].receive) {
      Action action = schedule.at(plan.messages[*received].producer).action;
      steps.push_back({WalkStep::Wait, action, /*isSend=*/false, cell.stage, cell.microbatch});
    }
    steps.push_back({WalkStep::Run, cell.action, /*isSend=*/false, cell.stage, cell.microbatch});
    if (releases(cell.action))
      release(cell);
  }
  startThrough(plan.ranks[rank].queue.size());
  // Wait for all sends, so that none is in flight after the last cell.
  for (unsigned stage = 0; stage < sent.size(); ++stage)
    for (bool isGradient : {false, true}) {
      const std::vector<unsigned> &microbatches = sent[stage][isGradient];
      size_t waited = microbatches.size() - std::min<size_t>(microbatches.size(), kSendSlots);
      for (unsigned microbatch : llvm::ArrayRef(microbatches).drop_front(waited))
        waitForSend(stage, isGradient ? Action::Backward : Action::Forward, microbatch);
    }
}

Walk braid::pipeline::makeWalk(const Schedule &schedule, const MessagePlan &plan) {
  Walk walk;
  walk.ranks.resize(schedule.numRanks());
  walk.stages.resize(schedule.numStages());
  for (auto &buffers : walk.stages)
    for (BufferSlots &slots : buffers)
      slots.slotOf.assign(schedule.numMicrobatches(), 0);
  std::vector<std::vector<CellMessages>> cells = messagesOfCells(schedule, plan.messages);
  for (unsigned rank = 0; rank < schedule.numRanks(); ++rank)
    Lister(schedule, plan, rank, walk).run(cells[rank]);
  return walk;
}

Walk braid::pipeline::makeWalk(const Schedule &schedule) {
  return makeWalk(schedule, planMessages(schedule, simulate(schedule, std::vector<StageTimes>(schedule.numStages()))));
}
