//===- WatchedCollectives.cpp - collectives of a library, watched ---------===//

#include "gpu/WatchedCollectives.h"

#include "base/Error.h"
#include "base/Format.h"
#include "gpu/Device.h"
#include "gpu/Vendor.h"

#include <exception>
#include <optional>

using namespace braid;

WatchedCollectives::WatchedCollectives(const br_model &model, const Rank &rank, const DevicePlace &place)
    : StreamCollectives(model, rank, place), bootstrap(*rank.bootstrap) {}

void WatchedCollectives::begin() {
  watcher = std::thread([this] { watch(); });
}

// The other ranks also come to their ends, unless something has failed on any rank.
bool WatchedCollectives::endWatch() {
  if (!watcher.joinable())
    return false;
  const bool isGood = !hasFailed() && std::uncaught_exceptions() == 0 && drain() == BR_OK;
  if (!isGood && place.failed)
    place.failed(hasFailed() ? error() : concat("rank ", rankNumber(), " ends after an error of its own"));
  {
    std::lock_guard lock(watchMutex);
    ending = true;
  }
  changed.notify_all();
  watcher.join();
  return isGood;
}

void WatchedCollectives::started(int32_t index) {
  if (collective(index).isCaptured)
    return; // the host waits for the whole graph instead
  std::lock_guard lock(watchMutex);
  if (inFlight.empty())
    runnableSince = Clock::now();
  inFlight.push_back({index, collective(index).action, collective(index).direct});
  if (inFlight.size() > 2 * static_cast<size_t>(count())) // prunes between two rounds of the watching thread
    dropEnded();
}

void WatchedCollectives::enter(const char *next) {
  std::lock_guard lock(watchMutex);
  call = next;
  callSince = Clock::now();
}

void WatchedCollectives::leave() {
  std::lock_guard lock(watchMutex);
  call = nullptr;
}

// Polls instead of blocking in the driver, where nothing could wake it.
br_status WatchedCollectives::synchronize(const GpuEvent &end) {
  {
    std::lock_guard lock(watchMutex);
    awaited = &end;
    awaitedSince = Clock::now();
  }
  constexpr auto afterFailure = std::chrono::seconds(10); // aborted kernels end soon
  std::optional<Clock::time_point> last;
  std::optional<GpuStatus> status = end.query();
  for (; !status && (!last || Clock::now() < *last); status = end.query()) {
    if (hasFailed() && !last)
      last = Clock::now() + afterFailure;
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  {
    std::lock_guard lock(watchMutex);
    awaited = nullptr;
  }
  if (status && !status->isGood())
    noteFailure(concat("rank ", rankNumber(), ": the device failed: ", status->describe()));
  return hasFailed() ? BR_ERROR : BR_OK;
}

//===----------------------------------------------------------------------===//
// The watch
//===----------------------------------------------------------------------===//

void WatchedCollectives::watch() {
  (void)useDevice(place.device);
  std::unique_lock lock(watchMutex);
  while (!ending) {
    changed.wait_for(lock, std::chrono::milliseconds(50));
    lock.unlock();
    std::string trouble = hasFailed() ? error() : findFailure();
    if (!trouble.empty()) {
      noteFailure(trouble);
      bootstrap.publishNotice("failure", trouble);
      abort();
      return;
    }
    lock.lock();
  }
}

std::string WatchedCollectives::findFailure() {
  if (std::string notice = bootstrap.findNotice("failure"); !notice.empty())
    return notice;
  std::lock_guard lock(watchMutex);
  if (std::string async = asyncError(); !async.empty())
    return concat("rank ", rankNumber(), ": ",
                  inFlight.empty() ? "" : describe(inFlight[0].index, inFlight[0].action) + ": ", async);
  return findLate();
}

std::string WatchedCollectives::findLate() {
  const auto isLate = [now = Clock::now(), most = std::chrono::duration<double>(bootstrap.timeout())](
                          Clock::time_point begin) { return now - begin >= most; };
  if (call && isLate(callSince))
    return concat("after ", formatExact(bootstrap.timeout()), " s rank ", rankNumber(), " is still in ", call,
                  ", which may wait for other ranks; start a process for each GPU, or run with --cuda-graph=off");
  if (std::string late = findLateCollective(); !late.empty())
    return late;
  const bool waits = inFlight.empty() && awaited && !awaited->query();
  if (!waits || !isLate(awaitedSince))
    return "";
  return concat("after ", formatExact(bootstrap.timeout()), " s rank ", rankNumber(), " waits for a ", vendor.runtime,
                " graph with collectives; run with --cuda-graph=off to see for which one");
}

// The caller must hold watchMutex.
void WatchedCollectives::dropEnded() {
  while (!inFlight.empty()) {
    const std::optional<GpuStatus> end = inFlight[0].eventPair->end.query();
    if (!end || !end->isGood())
      return;
    inFlight.pop_front();
    runnableSince = Clock::now();
  }
}

// Reports the first unfinished collective if it exceeds the timeout, counted from when the device
// reached it.
std::string WatchedCollectives::findLateCollective() {
  dropEnded();
  if (inFlight.empty())
    return "";
  const Clock::time_point now = Clock::now();
  if (!inFlight[0].eventPair->begin.query())
    runnableSince = now;
  if (now - runnableSince < std::chrono::duration<double>(bootstrap.timeout()))
    return "";
  return concat("after ", formatExact(bootstrap.timeout()), " s rank ", rankNumber(), " waits for ",
                describe(inFlight[0].index, inFlight[0].action));
}
