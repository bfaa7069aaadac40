//===- ThreadsHub.h - rendezvous of ranks in one process ------------------===//
//
// Ranks are threads. At a rendezvous, a rank posts its operation and sleeps until the other ranks of the
// group have posted theirs. Then each rank may read the memory of all, and none continues before all have
// finished. Both states are counters that only grow: how many collectives of a group, or transfers between
// two ranks, a rank has posted or finished. A rank cannot post the next operation before all have finished
// the current one, so one slot per rank is enough.
//
// One mutex protects everything, and each rank has a condition variable: the rank that completes a
// rendezvous wakes only its partners. The later of two ranks detects that their operations do not match.
// After a failure no rank posts, so no rendezvous completes. Ranks past a completed rendezvous finish their
// operation, because others read their memory.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_THREADSHUB_H
#define BRAID_COMM_THREADSHUB_H

#include "comm/Transport.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>

namespace braid {

class ThreadsHub {
public:
  explicit ThreadsHub(int ranks) : ranks(ranks) {}

  int size() const { return static_cast<int>(ranks.size()); }

  // Posts the operation of `rank`, waits for its partners and returns their operations, including its own:
  // those of the group in order, or the sender's and the receiver's. They are valid until `finish`. Throws
  // Error after `seconds`, which end at `deadline`.
  const std::vector<const Operation *> &rendezvous(int rank, const Operation &operation, Clock::time_point deadline,
                                                   double seconds);
  // Marks the operation of `rank` as finished; waits until its partners have finished.
  void finish(int rank, const Operation &operation);

  // Time when the last partner arrived; valid after `rendezvous`.
  Clock::time_point rendezvousAt(int rank) const { return ranks[rank].rendezvousAt; }

  // Marks `rank` as gone: it will post nothing more.
  void leave(int rank);
  // Ends all waits with this message; the first message stays.
  void fail(const std::string &message);

private:
  struct RankState {
    std::condition_variable changed;
    const Operation *current = nullptr; // the posted operation, until its partners have finished
    bool finished = false;              // whether this rank has finished the current operation
    bool left = false;
    std::vector<int> places;                 // places of the partners in the group
    std::vector<const Operation *> partners; // valid once all have posted
    Clock::time_point rendezvousAt;
  };
  struct Count {
    uint64_t posted = 0, finished = 0;
  };
  struct GroupState {
    std::map<int, Count> collectives;                  // by place in the group
    std::map<std::pair<int, int>, Count> sends, recvs; // by the places of sender and receiver
  };

  Count &countOf(const Operation &operation, int place);
  std::vector<int> missing(const Operation &operation, const std::vector<int> &places, uint64_t turn);
  void completeRendezvous(const Operation &operation, const std::vector<int> &places);
  void checkPartners(int rank, const Operation &operation, uint64_t turn);
  [[noreturn]] void failFor(const std::string &start, int rank, const Operation &operation,
                            const std::vector<int> &others);
  void failLocked(const std::string &message);
  std::string progressOf(int rank) const;

  std::mutex mutex;
  std::deque<RankState> ranks;
  std::map<int, GroupState> groups; // by the group's id
  std::string failure;
};

} // namespace braid
#endif // BRAID_COMM_THREADSHUB_H
