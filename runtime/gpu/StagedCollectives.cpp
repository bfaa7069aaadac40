//===- StagedCollectives.cpp - collectives through the host's memory ------===//

#include "gpu/StagedCollectives.h"

using namespace braid;

static Rank withComm(Rank rank, br_comm &comm) {
  rank.comm = &comm;
  return rank;
}

StagedCollectives::StagedCollectives(const br_model &model, const Rank &rank, const DevicePlace &place, br_comm &comm,
                                     std::shared_ptr<StagingQueue> queue, std::string transport,
                                     std::vector<std::string> warnings)
    : DeviceCollectives(place), queue(std::move(queue)), transport(std::move(transport)),
      warningTexts(std::move(warnings)), collectives(model, place.arena, withComm(rank, comm)) {
  for (int32_t i = 0; i < model.n_collectives; ++i)
    eventPairs.push_back(std::make_shared<StagingQueue::EventPair>());
}

// Waits for queued work, because its memory is freed next.
StagedCollectives::~StagedCollectives() { (void)place.streams.compute.synchronize(); }

br_status StagedCollectives::start(int32_t index) {
  if (note(eventPairs[index]->begin.record(place.streams.compute)) != BR_OK)
    return BR_ERROR;
  queue->push(eventPairs[index]);
  return collectives.start(index);
}

br_status StagedCollectives::wait(int32_t index) {
  if (collectives.wait(index) != BR_OK)
    return BR_ERROR;
  return note(place.streams.compute.wait(eventPairs[index]->end));
}

// The device waits for no other rank.  If ranks have failed, starts and waits have failed too, and
// the communicator knows why.
const char *StagedCollectives::error() const { return hasFailed() ? DeviceCollectives::error() : collectives.error(); }
