//===- DeviceTransport.h - operations on tensors of a device --------------===//
//
// Lets the bodies of test/unit/runtime-comm, whose tensors are the host's, test the
// collectives of devices.  Each operation becomes a model with one collective: its
// arena gets what is sent, the collective is started and waited for as a program does,
// and what was received comes back.  The ranks of the operation are all ranks of that
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

// What the ranks of one operation share.
struct Rendezvous {
  explicit Rendezvous(int ranks) : hub(std::make_shared<ThreadsHub>(ranks)), notices(std::make_shared<NoticeStore>()) {}
  std::shared_ptr<ThreadsHub> hub;
  std::shared_ptr<NoticeStore> notices;
};

// By the operation's name, which is the same on all its ranks.
class RendezvousTable {
public:
  explicit RendezvousTable(std::string transport) : transport(std::move(transport)) {}

  const std::string transport; // "nccl" or "device-threads"
  std::shared_ptr<Rendezvous> of(const std::string &name, int ranks);

private:
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Rendezvous>> byName;
};

// `rank` has the device of its number, or shares the first one.
TransportFactory deviceTransport(std::shared_ptr<RendezvousTable> table, int rank, int size);

} // namespace braid::test
#endif // BRAID_TEST_RUNTIME_CUDA_COMM_DEVICETRANSPORT_H
