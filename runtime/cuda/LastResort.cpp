//===- LastResort.cpp - ends a process that cannot end itself -------------===//

#include "cuda/LastResort.h"

#include "base/Format.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace braid;

// As long as the job waits for a rank, within reason.
LastResort::LastResort(double timeout) : seconds(std::clamp(timeout, 5.0, 30.0)) {}

LastResort::~LastResort() {
  {
    std::lock_guard lock(mutex);
    ended = true;
  }
  changed.notify_all();
  if (watcher.joinable())
    watcher.join();
}

void LastResort::failed(const std::string &reason) {
  std::lock_guard lock(mutex);
  if (!ended && !watcher.joinable())
    watcher = std::thread([this, reason] { watch(reason); });
}

// Without cleaning up: that might block in the same places.
void LastResort::watch(const std::string &reason) {
  std::unique_lock lock(mutex);
  if (changed.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return ended; }))
    return;
  std::fprintf(stderr, "error: %s; %s s later CUDA or NCCL still holds this rank, so its process ends here\n",
               reason.c_str(), formatExact(seconds).c_str());
  std::_Exit(1);
}
