//===- WatchedCollectives.h - collectives of a library, watched -----------===//
//
// Collectives of a library that the host does not wait for.  A thread watches those in flight.  If
// the library reports an error, another rank fails, or a collective does not end in time, all
// communicators are aborted.  Then kernels that wait for other ranks end, and every later call fails
// with the reason.  Watchdog handles calls that block in spite of that.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_GPU_WATCHEDCOLLECTIVES_H
#define BRAID_GPU_WATCHEDCOLLECTIVES_H

#include "comm/Bootstrap.h"
#include "gpu/StreamCollectives.h"

#include <condition_variable>
#include <deque>
#include <thread>

namespace braid {

class WatchedCollectives : public StreamCollectives {
public:
  WatchedCollectives(const br_model &model, const Rank &rank, const DevicePlace &place);

  void begin() final;
  void enter(const char *call) final;
  void leave() final;
  br_status synchronize(const GpuEvent &end) final;

protected:
  // Ends the watch; the destructor of a library's class must call it.  Returns whether the other
  // ranks also end; false if begin() was never called.
  bool endWatch();

  // Returns the text of an asynchronous error of the library; empty if there is none.
  virtual std::string asyncError() = 0;
  // Ends all waits for other ranks.  Callable from any thread, more than once.
  virtual void abort() = 0;

  Bootstrap &bootstrap;

private:
  void started(int32_t index) final;

  // Called by the watching thread.
  void watch();
  std::string findFailure();
  std::string findLate();
  std::string findLateCollective();
  void dropEnded();

  // Shared by the calling thread and the watching thread:
  std::mutex watchMutex;
  std::condition_variable changed;
  struct Started {
    int32_t index;
    const char *action;
    SharedEventPair eventPair;
  };
  std::deque<Started> inFlight;      // in flight outside of captures
  Clock::time_point runnableSince;   // since when the first of these could run
  const GpuEvent *awaited = nullptr; // event that the host waits for
  Clock::time_point awaitedSince;
  const char *call = nullptr; // call that the host is in
  Clock::time_point callSince;
  bool ending = false;
  std::thread watcher; // runs from begin() on
};

} // namespace braid
#endif // BRAID_GPU_WATCHEDCOLLECTIVES_H
