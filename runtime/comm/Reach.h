//===- Reach.h - how ranks reach each other before their devices do -------===//
//
// NCCL wants an id from rank 0, and ranks must agree on whether it can start at all.
// They do so over what there is already: the store of the launcher (TCP or a folder),
// messages of MPI, or the memory of one process.  The same way failures are told,
// of which NCCL itself does not always learn.
//
// When NCCL cannot start, `comm` is what carries the collectives instead: over gloo,
// mpi or the threads of this process, with its transport wrapped into one that copies
// between the device and the host.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_REACH_H
#define BRAID_COMM_REACH_H

#include "comm/Communicator.h"
#include "comm/Rank.h"
#include "comm/Store.h"
#include "comm/ThreadsHub.h"
#include "comm/TransportRegistry.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace braid {

// News that the ranks of one process leave for each other.  The first of a topic stays.
class NewsBoard {
public:
  void put(const std::string &topic, const std::string &text);
  std::string read(const std::string &topic) const;

private:
  mutable std::mutex mutex;
  std::map<std::string, std::string> news;
};

struct ReachOptions {
  std::string wanted; // "auto", "nccl", "gloo", "mpi", "device-threads"
  std::string host;   // the transport of host memory: "threads", "gloo", "mpi"; empty: there is none
  Joining joining;
  // Of ranks that are threads: what they share, and this one's transport.
  std::shared_ptr<NewsBoard> board;
  TransportFactory threads;
};

class Reach {
public:
  explicit Reach(ReachOptions options);
  ~Reach();
  Reach(const Reach &) = delete;
  Reach &operator=(const Reach &) = delete;

  // What the user has asked for, and what there is of host memory.
  const std::string &wanted() const { return options.wanted; }
  const std::string &host() const { return options.host; }
  double timeout() const { return options.joining.timeout; }
  bool isOneProcess() const { return options.board != nullptr; }

  // Over what the ranks talk in the end, for people.
  void settle(const std::string &name) { settled = name; }
  const char *name() const { return settled.c_str(); }

  // Everyone's word, by rank.  All ranks must ask together.  Throws Error that names
  // a rank which has not come in time.
  std::vector<std::string> tellAll(const std::string &word);

  // News for whoever looks: the first of a topic stays.  Any thread may tell and look;
  // nothing throws.  Under mpirun alone no news comes: there a failed process ends all.
  void tellNews(const std::string &topic, const std::string &text) noexcept;
  std::string news(const std::string &topic) noexcept;

  // This rank has failed while devices talk by themselves: MPI's end, which waits for the
  // others, is not waited for, so that the process ends and mpirun ends theirs.
  void abandon() noexcept;

  // Before `comm` or `tellAll` is called first: what the transport becomes.
  using Wrap = std::function<TransportFactory(TransportFactory)>;
  void wrapWith(Wrap wrap) { this->wrap = std::move(wrap); }

  // The communicator of host memory; made at the first call, on all ranks.
  br_comm &comm();

private:
  Store &openedStore();
  std::vector<std::string> tellOverStore(const std::string &word);
  std::vector<std::string> tellOverComm(const std::string &word);
  std::string awaitWord(const std::string &key, int from, Clock::time_point deadline);
  // Ranks whose words go over the store need no communicator.
  bool usesStore() const;

  ReachOptions options;
  Wrap wrap;
  std::string settled;
  std::mutex storeMutex;
  std::shared_ptr<Store> store;
  std::map<std::string, Clock::time_point> asked; // when, of each topic
  std::unique_ptr<br_comm> communicator;
  uint64_t questions = 0;
};

// The name of the transport in use.
inline const char *transportOf(const Rank &rank) { return rank.reach ? rank.reach->name() : rank.transport; }

} // namespace braid
#endif // BRAID_COMM_REACH_H
