//===- StagedCollectives.h - collectives through the host's memory --------===//
//
// Collectives for ranks whose devices cannot communicate with each other: the rank's communication
// thread copies the data (StagedTransport.h).  A wait blocks the host, so no graph can hold
// it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_GPU_STAGEDCOLLECTIVES_H
#define BRAID_GPU_STAGEDCOLLECTIVES_H

#include "core/Collectives.h"
#include "gpu/DeviceCollectives.h"
#include "gpu/StagedTransport.h"

namespace braid {

class StagedCollectives final : public DeviceCollectives {
public:
  // `comm` must run over a staged transport with this queue.
  StagedCollectives(const br_model &model, const Rank &rank, const DevicePlace &place, br_comm &comm,
                    std::shared_ptr<StagingQueue> queue, std::string transport, std::vector<std::string> warnings);
  ~StagedCollectives() override;

  br_status start(int32_t index) override;
  br_status wait(int32_t index) override;
  bool canBeCaptured() const override { return false; }
  const char *error() const override;
  br_comm *hostComm() const override { return collectives.communicator(); }
  br_ticket ticketOf(int32_t index) const override { return collectives.ticketOf(index); }
  const char *name() const override { return transport.c_str(); }
  std::vector<std::string> warnings() const override { return warningTexts; }

private:
  const std::shared_ptr<StagingQueue> queue;
  const std::string transport;
  const std::vector<std::string> warningTexts;
  Collectives collectives;
  std::vector<StagingQueue::SharedEventPair> eventPairs; // by index of the collective
};

} // namespace braid
#endif // BRAID_GPU_STAGEDCOLLECTIVES_H
