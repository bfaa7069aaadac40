//===- LastResort.h - ends a process that cannot end itself ---------------===//
//
// When a rank fails, communicators are aborted, and what waits for other ranks ends.  But
// calls of CUDA and NCCL can block where nothing wakes them: the launch of a graph, or an
// abort that waits for one.  So from a failure on time passes, and a rank that has not let
// go of its device by then ends its process, with the reason: that of the device or of the
// other ranks; of what the host did, a full disk say, only that it was an error.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_LASTRESORT_H
#define BRAID_CUDA_LASTRESORT_H

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace braid {

// Lives from before the first call of the device until after the last.
class LastResort {
public:
  // How long after a failure; of a job that waits so long for a rank.
  explicit LastResort(double timeout);
  ~LastResort();
  LastResort(const LastResort &) = delete;
  LastResort &operator=(const LastResort &) = delete;

  // Time passes from the first call on.  Any thread.
  void failed(const std::string &reason);

private:
  void watch(const std::string &reason);

  const double seconds;
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  std::thread watcher; // from a failure on
};

} // namespace braid
#endif // BRAID_CUDA_LASTRESORT_H
