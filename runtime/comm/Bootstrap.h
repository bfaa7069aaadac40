//===- Bootstrap.h - out-of-band communication before the devices do ------===//
//
// NCCL needs an id from rank 0, and ranks must agree on whether it can start at all.
// They do so over what exists already: the store of the launcher (TCP or a folder),
// messages of MPI, or the memory of one process.  Failures are published the same way,
// because NCCL itself does not always learn of them.
//
// Before all that, ranks compare what they are about to do, over the same means.
//
// When NCCL cannot start, `comm` is what carries the collectives instead: over gloo,
// mpi or the threads of this process, with its transport wrapped into one that copies
// between the device and the host.
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

// Notices that the ranks of one process leave for each other.  The first of a topic stays.
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
  std::string host;   // the transport of host memory: "threads", "gloo", "mpi"; empty: there is none
  Joining joining;
  // Of ranks that are threads: what they share, and this one's transport.
  std::shared_ptr<NoticeStore> notices;
  TransportFactory threads;
  bool wraps = false; // wrapWith will say what the transport becomes
};

class Bootstrap {
public:
  explicit Bootstrap(BootstrapOptions options);
  ~Bootstrap();
  Bootstrap(const Bootstrap &) = delete;
  Bootstrap &operator=(const Bootstrap &) = delete;

  // The transport that the user has asked for, and the one of host memory.
  const std::string &wanted() const { return options.wanted; }
  const std::string &host() const { return options.host; }
  // How long a rank waits for another, in seconds, and how long at least from now on (0: no more).
  double timeout() const { return std::max(options.joining.timeout, leastSeconds.load()); }
  void waitAtLeast(double seconds);
  bool isOneProcess() const { return options.notices != nullptr; }

  // The transport that the ranks use in the end, for people.
  void setTransport(const std::string &name) { transport = name; }
  const char *transportName() const { return transport.c_str(); }

  // The blobs of all ranks, in their order.  All ranks must call it.  Throws Error that
  // names a rank which has not joined within the timeout.
  std::vector<std::string> allGatherBlobs(const std::string &blob);

  // Before memory is taken: throws RankError, on all ranks, that says what keeps a rank from
  // starting, or in what ranks differ.  All ranks must call it, or the other.  Where it takes
  // a communicator that will be wrapped, that is done first.
  void agreeToStart(const StartFacts &facts);
  // Says to the others that this rank cannot start, and why; takes a few seconds at most.
  void refuseToStart(const std::string &why) noexcept;

  // Notices for whoever looks: the first of a topic stays.  Any thread may publish and
  // look; nothing throws.  Under mpirun alone no notice arrives: there a failed process
  // ends all.
  void publishNotice(const std::string &topic, const std::string &text) noexcept;
  std::string findNotice(const std::string &topic) noexcept;

  // This rank has failed while the devices communicate by themselves: it does not wait for
  // MPI_Finalize, which waits for the others, so its process ends and mpirun ends theirs.
  void abandon() noexcept;

  // Before the first call of `comm` or `allGatherBlobs`: what the transport becomes.
  using Wrap = std::function<TransportFactory(TransportFactory)>;
  void wrapWith(Wrap wrap);

  // The communicator of host memory; made at the first call, on all ranks.
  br_comm &comm();

private:
  // How long to wait for ranks that shall hear why there is no job.
  static constexpr double kRefusalSeconds = 3;

  Store &openedStore();
  [[noreturn]] void failToRendezvous(const std::string &why, Clock::time_point deadline) const;
  std::string missingIn(const std::string &round);
  void lingerForOthers(const std::string &round);
  static std::string refusalOf(int rank, const std::string &why);
  std::vector<std::string> gatherOverStore(const std::string &blob);
  std::string awaitBlob(const std::string &round, const std::string &key, Clock::time_point deadline);
  // Ranks whose blobs go through the store need no communicator.
  bool usesStore() const;

  BootstrapOptions options;
  std::atomic<double> leastSeconds = 0;
  Wrap wrap;
  std::optional<StartFacts> pending; // until the communicator is wrapped
  std::string transport;
  std::mutex storeMutex;
  std::shared_ptr<Store> store;
  std::map<std::string, Clock::time_point> polled; // when each topic was last looked up
  std::unique_ptr<br_comm> communicator;
  uint64_t rounds = 0; // of allGatherBlobs over the store
};

// The name of the transport in use.
inline const char *transportOf(const Rank &rank) {
  return rank.bootstrap ? rank.bootstrap->transportName() : rank.transport;
}

} // namespace braid
#endif // BRAID_COMM_BOOTSTRAP_H
