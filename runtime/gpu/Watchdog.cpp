//===- Watchdog.cpp - ends a process that is blocked after a failure ------===//

#include "gpu/Watchdog.h"

#include "base/Format.h"
#include "gpu/Vendor.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace braid;

// The timer is the job's timeout for a rank, limited to 5 to 30 seconds.
Watchdog::Watchdog(double timeout, bool exits) : seconds(std::clamp(timeout, 5.0, 30.0)), exits(exits) {}

Watchdog::~Watchdog() {
  {
    std::lock_guard lock(mutex);
    ended = true;
  }
  changed.notify_all();
  if (watcher.joinable())
    watcher.join();
}

void Watchdog::failed(const std::string &reason) {
  std::lock_guard lock(mutex);
  if (exits && !ended && !watcher.joinable())
    watcher = std::thread([this, reason] { watch(reason); });
}

// Exits without cleanup, which might block in the same calls.
void Watchdog::watch(const std::string &reason) {
  std::unique_lock lock(mutex);
  if (changed.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return ended; }))
    return;
  std::fprintf(stderr, "error: %s; %s s later this rank is still blocked in %s or %s, so its process exits\n",
               reason.c_str(), formatExact(seconds).c_str(), vendor.runtime, vendor.collectives);
  std::_Exit(1);
}
