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

#include "comm/Reach.h"
#include "comm/ThreadsHub.h"
#include "comm/Transport.h"

#include <map>
#include <memory>
#include <mutex>

namespace braid::test {

// Where the ranks of one operation find each other.
struct Meeting {
  explicit Meeting(int ranks) : hub(std::make_shared<ThreadsHub>(ranks)), board(std::make_shared<NewsBoard>()) {}
  std::shared_ptr<ThreadsHub> hub;
  std::shared_ptr<NewsBoard> board;
};

// Meetings of operations that have the same name on all their ranks.
class Meetings {
public:
  explicit Meetings(std::string transport) : transport(std::move(transport)) {}

  const std::string transport; // "nccl" or "device-threads"
  std::shared_ptr<Meeting> of(const std::string &name, int ranks);

private:
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Meeting>> meetings;
};

// `rank` has the device of its number, or shares the first one.
TransportFactory deviceTransport(std::shared_ptr<Meetings> meetings, int rank, int size);

} // namespace braid::test
#endif // BRAID_TEST_RUNTIME_CUDA_COMM_DEVICETRANSPORT_H
