//===- DeviceTransport.h - operations on tensors of a device --------------===//
//
// Tests the collectives of devices with the bodies of test/unit/runtime-comm, whose tensors are on the host. Each
// operation becomes a model with one collective. The sent tensors are copied to its arena, the collective starts and
// ends as in a program, and the received tensors are copied back. The ranks of the operation are all ranks of that
// model, so each operation also starts and ends its transport.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TEST_RUNTIME_CUDA_COMM_DEVICETRANSPORT_H
#define BRAID_TEST_RUNTIME_CUDA_COMM_DEVICETRANSPORT_H

#include "comm/Bootstrap.h"
#include "comm/ThreadsHub.h"
#include "comm/Transport.h"

#include <map>
#include <memory>
#include <mutex>

namespace braid::test {

// State that the ranks of one operation share.
struct Rendezvous {
  explicit Rendezvous(int ranks) : hub(std::make_shared<ThreadsHub>(ranks)), notices(std::make_shared<NoticeStore>()) {}
  std::shared_ptr<ThreadsHub> hub;
  std::shared_ptr<NoticeStore> notices;
};

// Operations by name, which is equal on all ranks.
class RendezvousTable {
public:
  explicit RendezvousTable(std::string transport) : transport(std::move(transport)) {}

  const std::string transport; // "nccl" or "device-threads"
  std::shared_ptr<Rendezvous> of(const std::string &name, int ranks);

private:
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Rendezvous>> byName;
};

// `rank` uses the device with its number, or shares the first device.
TransportFactory deviceTransport(std::shared_ptr<RendezvousTable> table, int rank, int size);

} // namespace braid::test
#endif // BRAID_TEST_RUNTIME_CUDA_COMM_DEVICETRANSPORT_H
