//===- StreamCollectives.cpp - collectives as work on streams -------------===//

#include "gpu/StreamCollectives.h"

#include "base/Error.h"
#include "core/Mesh.h"

#include <algorithm>

using namespace braid;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

// Returns this rank's group of each kind, numbered by kind.
static std::deque<Group> groupsOfRank(const br_model &model, int rank) {
  std::deque<Group> own;
  for (int32_t kind = 0; kind < std::max(model.n_groups, 1); ++kind)
    for (const std::vector<int32_t> &ranks : groupsOf(model, kind)) {
      auto member = std::find(ranks.begin(), ranks.end(), rank);
      if (member != ranks.end())
        own.push_back({kind, {ranks.begin(), ranks.end()}, static_cast<int>(member - ranks.begin())});
    }
  return own;
}

static Operation operationOf(const br_collective_desc &d, std::byte *arena, const Group &group, uint64_t number) {
  std::vector<br_segment> segments;
  for (int32_t i = 0; i < d.n_segments; ++i) {
    const br_segment_desc &part = d.segments[i];
    segments.push_back({arena + part.send, arena + part.recv, part.count, part.send_rows, part.recv_rows});
  }
  Operation operation;
  operation.assign({d.kind, d.reduction, d.dtype, d.group, d.root, d.pairs, d.n_pairs, segments.data(), d.n_segments},
                   group, number);
  return operation;
}

StreamCollectives::StreamCollectives(const br_model &model, const Rank &rank, const DevicePlace &place)
    : DeviceCollectives(place), number(rank.number), groups(groupsOfRank(model, rank.number)) {
  for (int32_t i = 0; i < model.n_collectives; ++i) {
    const br_collective_desc &d = model.collectives[i];
    collectives.push_back({operationOf(d, place.arena, groups[d.group], i), {}, nextEventPair()});
  }
  plan(model);
}

// One scratch buffer serves all collectives, because they run one after the other.
void StreamCollectives::plan(const br_model &model) {
  auto planOf = [&](const Operation &operation, std::byte *scratch) {
    return planCollective(operation, scratch, isOfAllRanks(model), place.communicatesAlone);
  };
  for (const Collective &each : collectives)
    scratch.bytes = std::max<uint64_t>(scratch.bytes, planOf(each.operation, place.arena).scratchBytes);
  if (scratch.bytes > 0) {
    void *memory = nullptr;
    if (const std::string problem = usualAllocator.allocate(&memory, scratch.bytes); !problem.empty())
      fail(usualAllocator.name, " for blocks on their way: ", problem);
    scratch.memory = static_cast<std::byte *>(memory);
    stream().fillZeros(scratch.memory, scratch.bytes).check();
  }
  for (Collective &each : collectives)
    each.plan = planOf(each.operation, scratch.memory);
}

StreamCollectives::~StreamCollectives() = default;

StreamCollectives::Scratch::~Scratch() {
  if (memory)
    usualAllocator.free(memory);
}

//===----------------------------------------------------------------------===//
// Starts and waits
//===----------------------------------------------------------------------===//

static void copyOn(const GpuStream &stream, const std::vector<StridedCopy> &copies) {
  for (const StridedCopy &copy : copies) {
    if (copy.rows == 1)
      stream.copyOnDevice(copy.to, copy.from, copy.width).check();
    else
      stream.copyOnDevice(copy.to, copy.toPitch, copy.from, copy.fromPitch, copy.width, copy.rows).check();
  }
}

// Returns a pair that neither a collective nor the watching thread uses.
StreamCollectives::SharedEventPair StreamCollectives::nextEventPair() {
  auto free =
      std::find_if(eventPairs.begin(), eventPairs.end(), [](auto &eventPair) { return eventPair.use_count() == 1; });
  if (free == eventPairs.end())
    free = eventPairs.insert(eventPairs.end(), std::make_shared<EventPair>());
  eventPairs.splice(eventPairs.end(), eventPairs, free);
  return *free;
}

br_status StreamCollectives::start(int32_t index) {
  if (hasFailed())
    return BR_ERROR;
  Collective &each = collectives[index];
  try {
    each.isCaptured = place.streams.compute.isCapturing();
    if (!each.isCaptured)
      each.direct = nextEventPair();
    each.action = place.action ? place.action() : "";
    const EventPair &eventPair = each.eventPair();
    eventPair.begin.record(place.streams.compute).check();
    stream().wait(eventPair.begin).check();
    copyOn(stream(), each.plan.before);
    exchange(index);
    copyOn(stream(), each.plan.after);
    for (const ZeroFill &fill : each.plan.zeros)
      stream().fillZeros(fill.at, fill.bytes).check();
    eventPair.end.record(stream()).check();
    started(index);
    return BR_OK;
  } catch (const Error &error) {
    noteFailure(concat("rank ", number, ": ", describe(index, each.action), ": ", error.what()));
    return BR_ERROR;
  }
}

br_status StreamCollectives::wait(int32_t index) {
  if (hasFailed())
    return BR_ERROR;
  return note(place.streams.compute.wait(collectives[index].eventPair().end));
}

std::string StreamCollectives::describe(int32_t index, const char *action) const {
  const Collective &each = collectives[index];
  std::string text = concat(braid::describe(each.operation.signature, *each.operation.group), " over ",
                            braid::describe(*each.operation.group));
  return action[0] ? concat(text, ", '", action, "'") : text;
}

void StreamCollectives::exchange(int32_t index) {
  if (!collectives[index].plan.moves.empty())
    fail("a single rank cannot exchange data");
}

br_status StreamCollectives::drain() {
  note(drained.record(place.streams.compute));
  return synchronize(drained);
}
