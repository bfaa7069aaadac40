//===- ThreadsHub.h - where ranks of one process meet ---------------------===//
//
// Ranks are threads.  To meet, a rank posts its operation and sleeps until the
// others of the group have posted theirs; then everyone may read everyone's
// memory; and nobody goes on before all have finished.  Both are counts that only
// grow: the k-th collective of a group, or the k-th transfer between two ranks,
// has been posted, or finished, by a rank.  A rank cannot post its next before all
// have finished the k-th, so one slot a rank is enough.
//
// All of it is under one mutex, with a condition a rank: whoever completes a
// meeting wakes those it concerns, and nobody else.  The later of two ranks sees
// that their operations do not fit.  After a failure nobody posts, so nobody
// meets; those who have met finish, because others read their memory.
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
  const std::vector<const Operation *> &meet(int rank, const Operation &operation, Clock::time_point deadline,
                                             double seconds);
  // `rank` has finished; ends when its partners have.
  void finish(int rank, const Operation &operation);

  // When the last of the partners came; valid after meet.
  Clock::time_point metAt(int rank) const { return ranks[rank].metAt; }

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
    std::vector<const Operation *> partners; // once met
    Clock::time_point metAt;
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
  void completeMeeting(const Operation &operation, const std::vector<int> &places);
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
