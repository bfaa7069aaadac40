//===- Communicator.h - a rank's queue of operations ----------------------===//
//
// What br_comm is.  One thread executes operations in the order of starts, so a
// ticket is a number, and waiting for it is waiting until that many have ended.
// Libraries make no progress in the background (Open MPI 4.1 does not): they are
// driven by this thread, beside the rank's compute.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_COMMUNICATOR_H
#define BRAID_COMM_COMMUNICATOR_H

#include "comm/Transport.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace braid {
// Whoever wants to know when operations have run.
class OperationObserver {
public:
  virtual ~OperationObserver() = default;
  // On the communication thread, which holds up the next operation; in seconds of secondsNow().
  virtual void ended(br_ticket ticket, double begin, double end) = 0;
};
} // namespace braid

struct br_comm {
public:
  // Throws Error when the transport cannot be made.  `timeout` is in seconds, for
  // each operation from the moment the thread comes to it.
  br_comm(const braid::TransportFactory &factory, double timeout);
  // Executes what has been started, unless something has failed.
  ~br_comm();
  br_comm(const br_comm &) = delete;
  br_comm &operator=(const br_comm &) = delete;

  int rank() const { return ownRank; }
  int size() const { return worldSize; }

  // These throw Error.
  int makeGroup(std::vector<int> ranks);
  br_ticket start(const br_operation &operation);
  void wait(br_ticket ticket);

  // Ends with an error of this rank that is none of communication: the other ranks hear why.
  void endWith(const std::string &why);

  // Until it is told of another, or of none (null).
  void observe(braid::OperationObserver *observer);

  // From now on operations may take so many seconds, if that is more than the time-out; 0: no more.
  void waitAtLeast(double seconds) { leastSeconds = seconds; }

  // The C interface's form of an exception: keeps the text for br_comm_error.
  br_status note(const std::exception &error);
  const char *error() const;

private:
  void loop(const braid::TransportFactory &factory);
  void runAll(braid::Transport &transport);

  const double timeout;
  std::atomic<double> leastSeconds = 0;
  int ownRank = -1, worldSize = 0;
  mutable std::mutex mutex;
  std::condition_variable wake;    // the thread: there is work, or the end
  std::condition_variable done;    // those who wait: something ended
  std::deque<braid::Group> groups; // stable addresses
  std::deque<braid::Operation> queue;
  std::vector<braid::Operation> spare; // ended ones, whose memory is used again
  uint64_t started = 0, ended = 0;
  braid::OperationObserver *observer = nullptr;
  bool ready = false, ending = false;
  std::string failure;  // of the ranks; final
  std::string ownError; // for the other ranks
  std::string lastError;
  std::thread thread;
};

#endif // BRAID_COMM_COMMUNICATOR_H
