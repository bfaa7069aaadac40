//===- Bootstrap.h - communication before devices start -------------------===//
//
// NCCL needs an id from rank 0, and ranks must agree whether it can start at all. They agree over a channel
// that already exists: the launcher's store (TCP or a folder), MPI messages, or the memory of one process.
// Failures are published on the same channel, because NCCL does not always detect them.
//
// Before that, ranks compare their programs and options over the same channel.
//
// If NCCL cannot start, `comm` carries the collectives: over gloo, mpi or the threads of this process. Its
// transport is then wrapped into one that copies between the device and the host.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_BOOTSTRAP_H
#define BRAID_COMM_BOOTSTRAP_H

#include "comm/Communicator.h"
#include "comm/Rank.h"
#include "comm/StartFacts.h"
#include "comm/Store.h"
#include "comm/ThreadsHub.h"
#include "comm/TransportRegistry.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace braid {

// Notices between the ranks of one process. The first notice of a topic stays.
class NoticeStore {
public:
  void put(const std::string &topic, const std::string &text);
  std::string read(const std::string &topic) const;

private:
  mutable std::mutex mutex;
  std::map<std::string, std::string> notices;
};

struct BootstrapOptions {
  std::string wanted; // "auto", "nccl", "gloo", "mpi", "device-threads"
  std::string host;   // transport for host memory: "threads", "gloo", "mpi"; empty if there is none
  Joining joining;
  // For ranks that are threads: their shared notices and this rank's transport.
  std::shared_ptr<NoticeStore> notices;
  TransportFactory threads;
  bool wraps = false; // whether wrapWith will be called to wrap the transport
};

class Bootstrap {
public:
  explicit Bootstrap(BootstrapOptions options);
  ~Bootstrap();
  Bootstrap(const Bootstrap &) = delete;
  Bootstrap &operator=(const Bootstrap &) = delete;

  // The transport that the user asked for, and the transport for host memory.
  const std::string &wanted() const { return options.wanted; }
  const std::string &host() const { return options.host; }
  // `timeout` returns how many seconds a rank waits for another rank. `waitAtLeast` sets a lower bound for
  // it (0: no bound).
  double timeout() const { return std::max(options.joining.timeout, minSeconds.load()); }
  void waitAtLeast(double seconds);
  bool isOneProcess() const { return options.notices != nullptr; }

  // Name of the transport that the ranks finally use, for messages.
  void setTransport(const std::string &name) { transport = name; }
  const char *transportName() const { return transport.c_str(); }

  // Returns the blobs of all ranks, in rank order. All ranks must call it. Throws an Error that names a
  // rank which has not joined within the timeout.
  std::vector<std::string> allGatherBlobs(const std::string &blob);

  // Called before memory is allocated. Throws RankError on all ranks if a rank cannot start or if ranks
  // differ; the message says why. Every rank must call either this or `refuseToStart`. If it needs a
  // communicator that will be wrapped, it runs in `wrapWith`.
  void agreeToStart(const StartFacts &facts);
  // Tells the other ranks that this rank cannot start, and why. Takes at most a few seconds.
  void refuseToStart(const std::string &reason) noexcept;

  // Publishes and finds notices; the first notice of a topic stays. Any thread may call these; they do not
  // throw. Under mpirun alone no notice arrives: there, a failed process ends all processes.
  void publishNotice(const std::string &topic, const std::string &text) noexcept;
  std::string findNotice(const std::string &topic) noexcept;

  // Called when this rank fails while the devices communicate directly. Skips MPI_Finalize, which would
  // wait for the other ranks; so this process ends, and mpirun ends the others.
  void abandon() noexcept;

  // Sets how to wrap the transport. Call before the first call of `comm` or `allGatherBlobs`.
  using Wrap = std::function<TransportFactory(TransportFactory)>;
  void wrapWith(Wrap wrap);

  // Returns the communicator for host memory. The first call creates it, on all ranks.
  br_comm &comm();

private:
  // Seconds to wait so that other ranks can learn why there is no job.
  static constexpr double kRefusalSeconds = 3;

  Store &openedStore();
  [[noreturn]] void failToRendezvous(const std::string &reason, Clock::time_point deadline) const;
  std::string missingIn(const std::string &round);
  void waitForLateRanks(const std::string &round);
  static std::string refusalOf(int rank, const std::string &reason);
  std::vector<std::string> gatherOverStore(const std::string &blob);
  std::string awaitBlob(const std::string &round, const std::string &key, Clock::time_point deadline);
  // Whether blobs go through the store; then no communicator is needed.
  bool usesStore() const;

  BootstrapOptions options;
  std::atomic<double> minSeconds = 0;
  Wrap wrap;
  std::optional<StartFacts> pending; // facts to compare once the communicator is wrapped
  std::string transport;
  std::mutex storeMutex;
  std::shared_ptr<Store> store;
  std::map<std::string, Clock::time_point> polled; // when each topic was last polled
  std::unique_ptr<br_comm> communicator;
  uint64_t rounds = 0; // number of allGatherBlobs calls over the store
};

// Returns the name of the transport in use.
inline const char *transportOf(const Rank &rank) {
  return rank.bootstrap ? rank.bootstrap->transportName() : rank.transport;
}

} // namespace braid
#endif // BRAID_COMM_BOOTSTRAP_H
