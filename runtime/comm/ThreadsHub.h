//===- ThreadsHub.h - the rendezvous of ranks of one process --------------===//
//
// Ranks are threads.  At a rendezvous, a rank posts its operation and sleeps until the
// others of the group have posted theirs; then each may read the memory
// of all, and none goes on before all have finished.  Both are counts that only
// grow: the k-th collective of a group, or the k-th transfer between two ranks,
// has been posted, or finished, by a rank.  A rank cannot post its next before all
// have finished the k-th, so one slot a rank is enough.
//
// All of it is under one mutex, with a condition variable for each rank: the rank that
// completes a rendezvous wakes its partners, and no other rank.  The later of two ranks
// sees that their operations do not match.  After a failure no rank posts, so no
// rendezvous is completed; ranks that have completed one finish their operation, because
// others read their memory.
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

  // `rank` has come to `operation`; gives its partners' operations, its own among
  // them: the group's in order, or the sender's and the receiver's.  They are
  // valid until `finish`.  Throws Error after `seconds`, which end at `deadline`.
  const std::vector<const Operation *> &rendezvous(int rank, const Operation &operation, Clock::time_point deadline,
                                                   double seconds);
  // `rank` has finished; ends when its partners have.
  void finish(int rank, const Operation &operation);

  // When the last of the partners arrived; valid after rendezvous.
  Clock::time_point rendezvousAt(int rank) const { return ranks[rank].rendezvousAt; }

  // `rank` will post nothing more.
  void leave(int rank);
  // Ends all waits with this message; the first one stays.
  void fail(const std::string &message);

private:
  struct RankState {
    std::condition_variable changed;
    const Operation *current = nullptr; // posted, until its partners have finished
    bool finished = false;              // this rank has, with the current one
    bool left = false;
    std::vector<int> places;                 // of the partners in the group
    std::vector<const Operation *> partners; // once all have posted
    Clock::time_point rendezvousAt;
  };
  struct Count {
    uint64_t posted = 0, finished = 0;
  };
  struct GroupState {
    std::map<int, Count> collectives;                  // by place
    std::map<std::pair<int, int>, Count> sends, recvs; // by places from and to
  };

  Count &countOf(const Operation &operation, int place);
  std::vector<int> missing(const Operation &operation, const std::vector<int> &places, uint64_t turn);
  void completeRendezvous(const Operation &operation, const std::vector<int> &places);
  void checkPartners(int rank, const Operation &operation, uint64_t turn);
  [[noreturn]] void failFor(const std::string &start, int rank, const Operation &operation,
                            const std::vector<int> &others);
  void failLocked(const std::string &message);
  std::string whereIs(int rank) const;

  std::mutex mutex;
  std::deque<RankState> ranks;
  std::map<int, GroupState> groups; // by the group's number
  std::string failure;
};

} // namespace braid
#endif // BRAID_COMM_THREADSHUB_H
