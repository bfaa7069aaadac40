//===- Queues.h - streams, events and what waits in them ------------------===//
//
// A stream is a queue of work in the order of issue.  Whoever calls the runtime runs what
// heads of queues can run, so work is done as soon as it is issued, except where it waits
// for an event or for other ranks.  One mutex guards all queues; it is not held while
// work runs.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_SHIM_QUEUES_H
#define BRAID_SHIM_QUEUES_H

#include "Recorder.h"
#include "cuda_runtime.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace shim {
struct Capture;

// One piece of work in a queue.  `ready` is asked with the lock held, `run` is called
// without it.
struct Work {
  std::function<bool()> ready; // none: at once
  std::function<void(const Issue &)> run;
  Issue issue;
};

// What can be issued, and issued again by a graph: a Work of its own each time.
using MakeWork = std::function<Work()>;

} // namespace shim

struct CUstream_st {
  int id, device, owner;
  bool busy = false, isReplay = false;
  std::deque<shim::Work> work;
  shim::Capture *capture = nullptr;
};

struct CUevent_st {
  int id, device, owner;
  bool timed;
  uint64_t recorded = 0, done = 0; // how often
  std::chrono::steady_clock::time_point time;
  shim::Capture *capture = nullptr; // recorded last in this, as its node:
  size_t captured = 0;
};

namespace shim {

extern std::mutex queuesMutex;
extern std::condition_variable queuesChanged;
using Lock = std::unique_lock<std::mutex>;

int currentDevice();

cudaStream_t makeStream(int device, bool isReplay = false);
void destroyStream(Lock &lock, cudaStream_t stream);
cudaEvent_t makeEvent(unsigned flags);
// The device's stream that stands for "no stream".
cudaStream_t streamOrDefault(cudaStream_t stream);

// Issues to the stream, or notes it in the stream's capture.
cudaError_t issue(cudaStream_t stream, const MakeWork &make);
cudaError_t issueRecord(cudaStream_t stream, cudaEvent_t event);
cudaError_t issueWait(cudaStream_t stream, cudaEvent_t event);

// As part of graph `graph`'s replay, with the lock held.
struct Replay {
  int graph, replay;
  bool active = false;
};
void issueNow(cudaStream_t stream, Work work, const Action &action, const Replay &replay = {});
void recordNow(cudaStream_t stream, cudaEvent_t event, const Action &action, const Replay &replay = {});
void waitNow(cudaStream_t stream, cudaEvent_t event, const Action &action, const Replay &replay = {});

// Runs what can run on this device; whether there was something.
bool runSome(Lock &lock, int device);
void runAll(Lock &lock, int device);
// Runs and waits until `holds`.
void runUntil(Lock &lock, int device, const std::function<bool()> &holds);
bool isDrained(cudaStream_t stream);
bool isDeviceDrained(int device);

// A line for what the host has waited for.
void recordSync(const char *op, int owner, const char *field, int64_t value, int64_t version = -1);

} // namespace shim
#endif // BRAID_SHIM_QUEUES_H
