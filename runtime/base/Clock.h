//===- Clock.h - monotonic seconds ----------------------------------------===//
#ifndef BRAID_BASE_CLOCK_H
#define BRAID_BASE_CLOCK_H

#include <chrono>

namespace braid {

// Seconds since an origin that all processes of a host share.
inline double secondsNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace braid
#endif // BRAID_BASE_CLOCK_H
