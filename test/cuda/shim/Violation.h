//===- Violation.h - what a kernel may not do, and how it is told ---------===//
//
// A violation ends the process, because nothing after it can be trusted. The message names the kernel, the action of
// the program, the thread, its access and the place.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_SHIM_VIOLATION_H
#define BRAID_SHIM_VIOLATION_H

#include <string>

namespace shim {

// Exit status of a process that ends by a violation.
constexpr int violationStatus = 86;

// The current launch on this host thread; null names if there is none.
struct LaunchName {
  const char *kernel = nullptr;
  const char *action = nullptr;
};
extern constinit thread_local LaunchName launchName;

// Ends the process. `thread`: whether the current device thread caused the violation.
[[noreturn]] void violation(const std::string &what, bool thread = true);

// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string format(const char *text, ...);

} // namespace shim
#endif // BRAID_SHIM_VIOLATION_H
