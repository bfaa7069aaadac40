//===- Stop.cpp - asking a job to end between steps -----------------------===//

#include "train/Stop.h"

#include <atomic>
#include <csignal>
#include <iterator>
#include <mutex>

using namespace braid;

namespace {

// From the least urgent, with room for 2047 ranks that say the same: sums of the
// lesser ones stay below the next, and exact in f32.
struct Signal {
  int number;
  const char *name;
  float term;
};
constexpr Signal signals[] = {{SIGUSR1, "SIGUSR1", 1}, {SIGINT, "Ctrl-C", 1 << 11}, {SIGTERM, "SIGTERM", 1 << 22}};

// Read by ranks on other threads than the one that is interrupted.
std::atomic<int> received = 0;
static_assert(std::atomic<int>::is_always_lock_free);
struct sigaction oldActions[std::size(signals)];
std::mutex mutex;
int requests = 0; // alive

void handle(int number) { received = number; }

} // namespace

StopRequest::StopRequest() {
  std::lock_guard lock(mutex);
  if (requests++ > 0)
    return;
  received = 0;
  struct sigaction action = {};
  action.sa_handler = handle;
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  for (size_t i = 0; i < std::size(signals); ++i)
    sigaction(signals[i].number, &action, &oldActions[i]);
}

StopRequest::~StopRequest() {
  std::lock_guard lock(mutex);
  if (--requests > 0)
    return;
  for (size_t i = 0; i < std::size(signals); ++i)
    sigaction(signals[i].number, &oldActions[i], nullptr);
}

int StopRequest::signal() { return received; }

float braid::stopTerm(int signal) {
  for (const Signal &each : signals)
    if (each.number == signal)
      return each.term;
  return 0;
}

int braid::stopSignal(float sum) {
  int number = 0;
  for (const Signal &each : signals)
    if (sum >= each.term)
      number = each.number;
  return number;
}

const char *braid::signalName(int signal) {
  for (const Signal &each : signals)
    if (each.number == signal)
      return each.name;
  return "a signal";
}
