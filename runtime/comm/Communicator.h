//===- Communicator.h - operation queue of a rank -------------------------===//
//
// Implements br_comm. One thread executes operations in the order of their starts. So a ticket is a number,
// and waiting for ticket k means waiting until k operations have ended. Libraries make no progress in the
// background (Open MPI 4.1 does not): this thread drives them beside the rank's compute.
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
// Observes the end of operations.
class OperationObserver {
public:
  virtual ~OperationObserver() = default;
  // Called on the communication thread, so it delays the next operation. Times are in seconds, on the clock
  // of secondsNow().
  virtual void ended(br_ticket ticket, double begin, double end) = 0;
};
} // namespace braid

struct br_comm {
public:
  // Throws Error if the transport cannot be created. `timeout` is in seconds, and applies to each operation
  // from when the thread begins it.
  br_comm(const braid::TransportFactory &factory, double timeout);
  // Executes all started operations, unless one has failed.
  ~br_comm();
  br_comm(const br_comm &) = delete;
  br_comm &operator=(const br_comm &) = delete;

  int rank() const { return ownRank; }
  int size() const { return worldSize; }

  // These functions throw Error.
  int makeGroup(std::vector<int> ranks);
  br_ticket start(const br_operation &operation);
  void wait(br_ticket ticket);

  // Ends because of an error of this rank outside communication; tells the other ranks why.
  void endWith(const std::string &reason);

  // Calls `observer` until it is replaced; null: no observer.
  void observe(braid::OperationObserver *observer);

  // Allows each operation at least `seconds` from now on, if that is more than the timeout; 0: only the
  // timeout.
  void waitAtLeast(double seconds) { minSeconds = seconds; }

  // Turns an exception into a status of the C interface; keeps its text for br_comm_error.
  br_status note(const std::exception &error);
  const char *error() const;

private:
  void loop(const braid::TransportFactory &factory);
  void runAll(braid::Transport &transport);

  const double timeout;
  std::atomic<double> minSeconds = 0;
  int ownRank = -1, worldSize = 0;
  mutable std::mutex mutex;
  std::condition_variable wake;    // wakes the thread: there is work, or the end
  std::condition_variable done;    // wakes waiting callers: an operation ended
  std::deque<braid::Group> groups; // stable addresses
  std::deque<braid::Operation> queue;
  std::vector<braid::Operation> spare; // ended operations; their memory is reused
  uint64_t started = 0, ended = 0;
  braid::OperationObserver *observer = nullptr;
  bool ready = false, ending = false;
  std::string failure;  // failure of the job; never cleared
  std::string ownError; // error to announce to the other ranks
  std::string lastError;
  std::thread thread;
};

#endif // BRAID_COMM_COMMUNICATOR_H
