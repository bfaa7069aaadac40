//===- Stop.cpp - requests to stop between steps --------------------------===//

#include "train/Stop.h"

#include <atomic>
#include <csignal>
#include <iterator>
#include <mutex>

using namespace braid;

namespace {

// Signals in order of urgency, least urgent first. The terms leave room for 8191 ranks with the same
// signal: the sum of less urgent terms stays below the next term, however it is rounded.
struct Signal {
  int number;
  const char *name;
  float term;
};
constexpr Signal signals[] = {{SIGUSR2, "SIGUSR2", 1},       {SIGHUP, "SIGHUP", 0x1p13f},
                              {SIGUSR1, "SIGUSR1", 0x1p26f}, {SIGINT, "Ctrl-C", 0x1p39f},
                              {SIGTERM, "SIGTERM", 0x1p52f}, {kFailure, "a failure", 0x1p65f}};
constexpr size_t numCaught = std::size(signals) - 1; // the last entry is not a signal

// Atomic, because ranks on threads other than the interrupted one read them.
std::atomic<int> received = 0;
std::atomic<bool> saveRequested = false;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);
struct sigaction oldActions[numCaught];
std::mutex mutex;
int requests = 0; // number of live StopRequest objects

void handle(int number) {
  if (onlySaves(number))
    saveRequested = true;
  else
    received = number;
}

} // namespace

StopRequest::StopRequest() {
  std::lock_guard lock(mutex);
  if (requests++ > 0)
    return;
  received = 0;
  saveRequested = false;
  for (size_t i = 0; i < numCaught; ++i) {
    struct sigaction action = {};
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART | (onlySaves(signals[i].number) ? 0 : SA_RESETHAND);
    sigaction(signals[i].number, &action, &oldActions[i]);
    if (signals[i].number == SIGHUP && oldActions[i].sa_handler == SIG_IGN)
      sigaction(SIGHUP, &oldActions[i], nullptr);
  }
}

StopRequest::~StopRequest() {
  std::lock_guard lock(mutex);
  if (--requests > 0)
    return;
  for (size_t i = 0; i < numCaught; ++i)
    sigaction(signals[i].number, &oldActions[i], nullptr);
}

// A stop also saves, so it takes precedence over a request to save.
int StopRequest::consumeSignal() {
  const bool saves = saveRequested.exchange(false);
  return received ? received.load() : saves ? SIGUSR2 : 0;
}

bool braid::onlySaves(int signal) { return signal == SIGUSR2; }

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
