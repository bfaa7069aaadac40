//===- Queues.cpp - streams, events and what waits in them ----------------===//
#include "Queues.h"

#include "Capture.h"
#include "LtAlgorithms.h"

#include <algorithm>
#include <map>

using namespace shim;

std::mutex shim::queuesMutex;
std::condition_variable shim::queuesChanged;

namespace {

struct All {
  std::vector<std::unique_ptr<CUstream_st>> streams;
  std::map<int, cudaStream_t> defaults; // by device
  int streamCount = 0, eventCount = 0;
  uint64_t issued = 0;
};
All &all() {
  static auto *state = new All; // outlives everything
  return *state;
}

} // namespace

cudaStream_t shim::makeStream(int device, bool isReplay) {
  auto stream = std::make_unique<CUstream_st>();
  stream->id = all().streamCount++;
  stream->device = device;
  stream->owner = hostId();
  stream->isReplay = isReplay;
  all().streams.push_back(std::move(stream));
  return all().streams.back().get();
}

void shim::destroyStream(Lock &lock, cudaStream_t stream) {
  runUntil(lock, stream->device, [&] { return isDrained(stream); });
  std::erase_if(all().streams, [&](auto &one) { return one.get() == stream; });
}

cudaEvent_t shim::makeEvent(unsigned flags) {
  auto *event = new CUevent_st;
  event->id = all().eventCount++;
  event->device = currentDevice();
  event->owner = hostId();
  event->timed = !(flags & cudaEventDisableTiming);
  return event;
}

cudaStream_t shim::streamOrDefault(cudaStream_t stream) {
  if (stream)
    return stream;
  cudaStream_t &found = all().defaults[currentDevice()];
  if (!found)
    found = makeStream(currentDevice());
  return found;
}

//===----------------------------------------------------------------------===//
// Issue
//===----------------------------------------------------------------------===//

void shim::issueNow(cudaStream_t stream, Work work, const Action &action, const Replay &replay) {
  Issue &issue = work.issue;
  issue.n = all().issued++;
  issue.owner = stream->owner;
  issue.host = hostId();
  issue.stream = stream->id;
  issue.device = stream->device;
  issue.action = action;
  if (replay.active) {
    issue.graph = replay.graph;
    issue.replay = replay.replay;
  }
  stream->work.push_back(std::move(work));
}

void shim::recordNow(cudaStream_t stream, cudaEvent_t event, const Action &action, const Replay &replay) {
  uint64_t version = ++event->recorded;
  Work work;
  work.run = [event, version](const Issue &issue) {
    if (tracing())
      Line(issue, "record").field("event", event->id).field("version", version).write(issue.owner);
    Lock lock(queuesMutex);
    event->done = std::max(event->done, version);
    event->time = timeOnStream(issue.stream);
  };
  issueNow(stream, std::move(work), action, replay);
}

void shim::waitNow(cudaStream_t stream, cudaEvent_t event, const Action &action, const Replay &replay) {
  Work work;
  uint64_t version = event->recorded;
  work.ready = [event, version] { return event->done >= version; };
  work.run = [id = event->id, version](const Issue &issue) {
    if (tracing())
      Line(issue, "wait").field("event", id).field("version", version).write(issue.owner);
  };
  issueNow(stream, std::move(work), action, replay);
}

cudaError_t shim::issue(cudaStream_t stream, const MakeWork &make) {
  Lock lock(queuesMutex);
  stream = streamOrDefault(stream);
  if (stream->capture)
    return stream->capture->note(stream, make);
  issueNow(stream, make(), currentAction());
  runAll(lock, stream->device);
  return cudaSuccess;
}

cudaError_t shim::issueRecord(cudaStream_t stream, cudaEvent_t event) {
  Lock lock(queuesMutex);
  stream = streamOrDefault(stream);
  if (stream->capture)
    return stream->capture->noteRecord(stream, event);
  event->capture = nullptr;
  recordNow(stream, event, currentAction());
  runAll(lock, stream->device);
  return cudaSuccess;
}

cudaError_t shim::issueWait(cudaStream_t stream, cudaEvent_t event) {
  Lock lock(queuesMutex);
  stream = streamOrDefault(stream);
  if (event->capture || stream->capture)
    return noteWait(stream, event);
  waitNow(stream, event, currentAction());
  runAll(lock, stream->device);
  return cudaSuccess;
}

//===----------------------------------------------------------------------===//
// Run
//===----------------------------------------------------------------------===//

bool shim::runSome(Lock &lock, int device) {
  for (size_t i = 0; i < all().streams.size(); ++i) {
    CUstream_st *stream = all().streams[i].get();
    if (stream->device != device || stream->busy || stream->work.empty())
      continue;
    Work &work = stream->work.front();
    if (work.ready && !work.ready())
      continue;
    stream->busy = true;
    lock.unlock();
    if (work.run)
      work.run(work.issue);
    lock.lock();
    stream->work.pop_front();
    stream->busy = false;
    queuesChanged.notify_all();
    return true;
  }
  return false;
}

void shim::runAll(Lock &lock, int device) {
  while (runSome(lock, device))
    ;
}

void shim::runUntil(Lock &lock, int device, const std::function<bool()> &holds) {
  while (!holds())
    if (!runSome(lock, device))
      queuesChanged.wait_for(lock, std::chrono::milliseconds(20));
}

bool shim::isDrained(cudaStream_t stream) { return stream->work.empty(); }

bool shim::isDeviceDrained(int device) {
  return std::all_of(all().streams.begin(), all().streams.end(),
                     [&](auto &stream) { return stream->device != device || isDrained(stream.get()); });
}

void shim::recordSync(const char *op, int owner, const char *field, int64_t value, int64_t version) {
  if (!tracing())
    return;
  Issue issue;
  issue.n = all().issued++;
  issue.host = hostId();
  issue.stream = -1;
  Line line(issue, op);
  line.field(field, value);
  if (version >= 0)
    line.field("version", version);
  line.write(owner);
}
