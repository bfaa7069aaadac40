//===- Watchdog.h - ends a process that is blocked after a failure --------===//
//
// When a rank fails, communicators are aborted, and waits for other ranks end.  But calls of
// the vendor's libraries can block where nothing wakes them: the launch of a graph, or an abort that waits for one.
// So a failure starts a timer.  If a rank has not released its device when the timer expires, its
// process ends and prints the reason: the error of the device or of another rank.  For an error of
// the host (a full disk, for example) it prints only that there was one.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_GPU_WATCHDOG_H
#define BRAID_GPU_WATCHDOG_H

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace braid {

// Lives from before the first device call until after the last.
class Watchdog {
public:
  // `timeout` is the seconds that the job waits for a rank; the timer is derived from it. Without `exits`, a
  // blocked rank stays blocked.
  Watchdog(double timeout, bool exits);
  ~Watchdog();
  Watchdog(const Watchdog &) = delete;
  Watchdog &operator=(const Watchdog &) = delete;

  // The first call starts the timer.  Callable from any thread.
  void failed(const std::string &reason);

private:
  void watch(const std::string &reason);

  const double seconds;
  const bool exits;
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  std::thread watcher; // started by the first failure
};

} // namespace braid
#endif // BRAID_GPU_WATCHDOG_H
