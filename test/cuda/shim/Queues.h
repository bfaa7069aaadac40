//===- Queues.h - streams, events and what waits in them ------------------===//
//
// A stream is a queue of work in the order of issue. Each call of the runtime runs the heads of queues that are ready.
// So work runs as soon as it is issued, unless it waits for an event or for other ranks. One mutex guards all queues;
// it is not held while work runs.
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

// One piece of work in a queue. `ready` is called with the lock held, `run` without it.
struct Work {
  std::function<bool()> ready; // none: at once
  std::function<void(const Issue &)> run;
  Issue issue;
};

// Work that can be issued, and issued again by a graph; each time it makes a new Work.
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
// The device's default stream.
cudaStream_t streamOrDefault(cudaStream_t stream);

// Issues work to the stream, or adds it to the stream's capture.
cudaError_t issue(cudaStream_t stream, const MakeWork &make);
cudaError_t issueRecord(cudaStream_t stream, cudaEvent_t event);
cudaError_t issueWait(cudaStream_t stream, cudaEvent_t event);

// Issues work as part of a replay of graph `graph`, with the lock held.
struct Replay {
  int graph, replay;
  bool active = false;
};
void issueNow(cudaStream_t stream, Work work, const Action &action, const Replay &replay = {});
void recordNow(cudaStream_t stream, cudaEvent_t event, const Action &action, const Replay &replay = {});
void waitNow(cudaStream_t stream, cudaEvent_t event, const Action &action, const Replay &replay = {});

// Runs all ready work on this device; returns whether there was any.
bool runSome(Lock &lock, int device);
void runAll(Lock &lock, int device);
// Runs work and waits until `holds` returns true.
void runUntil(Lock &lock, int device, const std::function<bool()> &holds);
bool isDrained(cudaStream_t stream);
bool isDeviceDrained(int device);

// Writes a line for a wait of the host.
void recordSync(const char *op, int owner, const char *field, int64_t value, int64_t version = -1);

} // namespace shim
#endif // BRAID_SHIM_QUEUES_H
