//===- VerifyWalk.cpp - verification of the lists of ranks ----------------===//
//
// Independent of how lists and slots were made. Executes the lists with a queue of messages
// for each rank, and tracks the content of each slot.
//
//===----------------------------------------------------------------------===//

#include "lib/Pipeline/Failure.h"
#include "lib/Pipeline/Walk.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <set>

using namespace braid::pipeline;
using llvm::Error;

namespace {

/// A message, identified by its content: activation or gradient, sender's stage, microbatch.
struct MessageKey {
  bool isGradient;
  unsigned stage, microbatch;
  friend auto operator<=>(const MessageKey &, const MessageKey &) = default;
};

class WalkVerifier {
public:
  WalkVerifier(const Schedule &schedule, const Walk &walk)
      : schedule(schedule), walk(walk), positions(schedule.numRanks(), 0), cells(schedule.numRanks(), 0),
        queues(schedule.numRanks()), heads(schedule.numRanks(), 0) {}
  Error run();

private:
  /// Executes the next step of a rank; returns whether the rank advances.
  llvm::Expected<bool> advance(unsigned rank);
  Error compute(unsigned rank, const WalkStep &step);
  Error start(unsigned rank, const WalkStep &step);
  bool isDelivered(const WalkStep &step) const { return delivered.count(keyOf(step)); }
  /// Completes messages; returns whether there were any.
  bool completeMessages();
  Error put(unsigned stage, Buffer buffer, unsigned microbatch, const WalkStep &step);
  Error find(unsigned stage, Buffer buffer, unsigned microbatch, const WalkStep &step);
  /// Checks that a cell's input is there, and that it was waited for if it comes from another rank.
  Error checkInput(unsigned rank, const Cell &cell, const WalkStep &step);
  Error checkEnd() const;
  void clear(unsigned stage, Buffer buffer, unsigned microbatch) { contents.erase(slotOf(stage, buffer, microbatch)); }

  static MessageKey keyOf(const WalkStep &step) {
    bool isGradient = step.action != Action::Forward;
    unsigned sender = step.isSend ? step.stage : isGradient ? step.stage + 1 : step.stage - 1;
    return {isGradient, sender, step.microbatch};
  }
  unsigned receiverOf(const MessageKey &key) const {
    return schedule.rankOf(key.isGradient ? key.stage - 1 : key.stage + 1);
  }
  std::tuple<unsigned, Buffer, unsigned> slotOf(unsigned stage, Buffer buffer, unsigned microbatch) const {
    return {stage, buffer, walk.slots(stage, buffer).slotOf[microbatch]};
  }

  const Schedule &schedule;
  const Walk &walk;
  /// Next step and next cell of each rank.
  std::vector<unsigned> positions, cells;
  std::vector<std::vector<MessageKey>> queues;
  std::vector<size_t> heads;
  std::map<MessageKey, bool> delivered;
  /// Messages that their receivers waited for.
  std::set<MessageKey> received;
  /// Microbatch in each slot.
  std::map<std::tuple<unsigned, Buffer, unsigned>, unsigned> contents;
};

} // namespace

Error WalkVerifier::put(unsigned stage, Buffer buffer, unsigned microbatch, const WalkStep &step) {
  if (walk.slots(stage, buffer).slotOf[microbatch] >= walk.slots(stage, buffer).count)
    return failure("{0} uses slot {1} of {2}", step.str(), walk.slots(stage, buffer).slotOf[microbatch],
                   walk.slots(stage, buffer).count);
  auto [place, isFree] = contents.try_emplace(slotOf(stage, buffer, microbatch), microbatch);
  if (!isFree)
    return failure("{0} writes over microbatch {1} in slot {2}, which stage {3} still needs", step.str(), place->second,
                   std::get<2>(place->first), stage);
  return Error::success();
}

Error WalkVerifier::find(unsigned stage, Buffer buffer, unsigned microbatch, const WalkStep &step) {
  auto place = contents.find(slotOf(stage, buffer, microbatch));
  if (place == contents.end() || place->second != microbatch)
    return failure("{0} does not find microbatch {1} in slot {2}", step.str(), microbatch,
                   walk.slots(stage, buffer).slotOf[microbatch]);
  return Error::success();
}

Error WalkVerifier::checkInput(unsigned rank, const Cell &cell, const WalkStep &step) {
  bool isForward = cell.action == Action::Forward;
  if (!isForward)
    if (Error error = find(cell.stage, Buffer::Saved, cell.microbatch, step))
      return error;
  if (isForward ? cell.stage == 0 : cell.stage + 1 == schedule.numStages())
    return Error::success();
  unsigned from = isForward ? cell.stage - 1 : cell.stage + 1;
  if (schedule.rankOf(from) != rank && !received.count({!isForward, from, cell.microbatch}))
    return failure("{0} does not wait for its {1}", step.str(), isForward ? "activation" : "gradient");
  return find(cell.stage, isForward ? Buffer::ActivationIn : Buffer::GradientIn, cell.microbatch, step);
}

/// Executes a cell: its inputs, its results, and the slots that it frees.
Error WalkVerifier::compute(unsigned rank, const WalkStep &step) {
  const Table::Row &row = schedule.getTable().rows[rank];
  if (cells[rank] == row.size() || row[cells[rank]].action != step.action || row[cells[rank]].stage != step.stage ||
      row[cells[rank]].microbatch != step.microbatch)
    return failure("rank {0} runs {1}, which is not its next cell", rank, step.str());
  const Cell &cell = row[cells[rank]++];
  bool isForward = cell.action == Action::Forward;
  if (Error error = checkInput(rank, cell, step))
    return error;
  if (isForward)
    if (Error error = put(cell.stage, Buffer::Saved, cell.microbatch, step))
      return error;
  if (std::optional<Place> reader = schedule.readerOf(cell)) {
    bool isOwn = reader->rank == rank;
    Buffer buffer = isForward ? (isOwn ? Buffer::ActivationIn : Buffer::ActivationOut)
                              : (isOwn ? Buffer::GradientIn : Buffer::GradientOut);
    if (Error error = put(isOwn ? schedule.at(*reader).stage : cell.stage, buffer, cell.microbatch, step))
      return error;
  }
  if (releases(cell.action)) {
    clear(cell.stage, Buffer::Saved, cell.microbatch);
    if (cell.stage > 0)
      clear(cell.stage, Buffer::ActivationIn, cell.microbatch);
    if (cell.stage + 1 < schedule.numStages())
      clear(cell.stage, Buffer::GradientIn, cell.microbatch);
  }
  return Error::success();
}

Error WalkVerifier::start(unsigned rank, const WalkStep &step) {
  MessageKey key = keyOf(step);
  queues[rank].push_back(key);
  if (step.isSend)
    return find(step.stage, key.isGradient ? Buffer::GradientOut : Buffer::ActivationOut, step.microbatch, step);
  return put(step.stage, key.isGradient ? Buffer::GradientIn : Buffer::ActivationIn, step.microbatch, step);
}

/// Completes the messages that are at the heads of both queues.
bool WalkVerifier::completeMessages() {
  bool wereAny = false;
  auto headOf = [&](unsigned rank) {
    return heads[rank] < queues[rank].size() ? std::optional(queues[rank][heads[rank]]) : std::nullopt;
  };
  for (bool isMoving = true; isMoving;) {
    isMoving = false;
    for (unsigned rank = 0; rank < queues.size(); ++rank) {
      std::optional<MessageKey> key = headOf(rank);
      if (!key || schedule.rankOf(key->stage) != rank || headOf(receiverOf(*key)) != key)
        continue;
      ++heads[rank];
      ++heads[receiverOf(*key)];
      delivered[*key] = true;
      wereAny = isMoving = true;
    }
  }
  return wereAny;
}

llvm::Expected<bool> WalkVerifier::advance(unsigned rank) {
  if (positions[rank] == walk.ranks[rank].size())
    return false;
  const WalkStep &step = walk.ranks[rank][positions[rank]];
  if (step.kind == WalkStep::Wait && !isDelivered(step))
    return false;
  ++positions[rank];
  if (step.kind == WalkStep::Wait && step.isSend)
    clear(step.stage, step.action == Action::Forward ? Buffer::ActivationOut : Buffer::GradientOut, step.microbatch);
  else if (step.kind == WalkStep::Wait)
    received.insert(keyOf(step));
  if (step.kind == WalkStep::Wait)
    return true;
  if (Error error = step.kind == WalkStep::Run ? compute(rank, step) : start(rank, step))
    return error;
  return true;
}

/// Fails unless everything is done and no message is in flight.
Error WalkVerifier::checkEnd() const {
  for (unsigned rank = 0; rank < schedule.numRanks(); ++rank) {
    if (positions[rank] < walk.ranks[rank].size())
      return failure("deadlock: rank {0} is at '{1}'", rank, walk.ranks[rank][positions[rank]].str());
    if (cells[rank] < schedule.getTable().rows[rank].size())
      return failure("rank {0} runs {1} of {2}", rank, counted(cells[rank], "cell"),
                     schedule.getTable().rows[rank].size());
    if (heads[rank] < queues[rank].size())
      return failure("rank {0} ends with messages in flight", rank);
  }
  for (const auto &[place, microbatch] : contents)
    if (auto [stage, buffer, slot] = place; buffer == Buffer::ActivationOut || buffer == Buffer::GradientOut)
      return failure("stage {0} does not wait until it has sent the {1} of microbatch {2}", stage,
                     buffer == Buffer::ActivationOut ? "activation" : "gradient", microbatch);
  return Error::success();
}

Error WalkVerifier::run() {
  for (bool isMoving = true; isMoving;) {
    isMoving = false;
    for (unsigned rank = 0; rank < schedule.numRanks(); ++rank)
      for (bool goesOn = true; goesOn;) {
        llvm::Expected<bool> advanced = advance(rank);
        if (!advanced)
          return advanced.takeError();
        isMoving |= goesOn = *advanced;
      }
    isMoving |= completeMessages();
  }
  return checkEnd();
}

Error braid::pipeline::verify(const Schedule &schedule, const Walk &walk) { return WalkVerifier(schedule, walk).run(); }
