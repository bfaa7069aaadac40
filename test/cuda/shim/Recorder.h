//===- Recorder.h - what a program did, a JSON line each ------------------===//
//
// BRAID_SHIM_TRACE=<prefix> writes <prefix>.<rank>.jsonl. Ranks are the host threads that made streams, numbered in the
// order of their first stream. Lines are in the order of execution; `n` is the order of issue.
//
//   {"op": "allocate", "allocation": 0, "device": 0, "bytes": 4096}
//   {"n": 7, "op": "launch", "stream": 1, "host": 0, "run": 0, "action": 3,
//    "kernel": "k3_kernel", "blocks": 2, "threads": 64, "reads": [[0, 0, 256]], "writes": [[0, 512, 1024]]}
//   {"n": 8, "op": "record", "stream": 1, "host": 0, "event": 2, "version": 1}
//   {"n": 9, "op": "wait", "stream": 2, "host": 0, "event": 2, "version": 1}
//
// `run` counts the programs that this thread of the host has run or captured. A range is [allocation, begin, end]. `op`
// is allocate, launch, matmul, copy, memset, host_function, collective, record, wait, graph, or a wait of the host:
// sync_event, sync_stream, sync_device. Lines of a replay have "graph": [number of the graph, number of the replay].
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_SHIM_RECORDER_H
#define BRAID_SHIM_RECORDER_H

#include "Allocations.h"

#include <optional>
#include <string>

namespace shim {

bool tracing();

// Returns the recorder of the current host thread, which is made at its first use.
int hostId();
// The last action that this thread's program has reported. Each run of a program begins with action 0; -1: none yet.
struct Action {
  int index = -1, run = -1;
};
Action currentAction();

// Facts about work that are known when it is issued.
struct Issue {
  uint64_t n = 0;
  int owner = 0, host = 0, stream = 0, device = 0;
  Action action;
  int graph = -1, replay = 0;
};

// A line that is being written.
class Line {
public:
  Line(const Issue &issue, const char *op);
  Line &field(const char *name, int64_t value);
  Line &field(const char *name, const std::string &value);
  Line &range(const char *name, const void *pointer, size_t bytes);
  Line &pieces(const char *name, const std::vector<std::pair<const void *, size_t>> &pieces);
  void write(int owner);

private:
  std::string text;
};

void recordAllocation(const Allocation &allocation);
void flushTraces();

} // namespace shim
#endif // BRAID_SHIM_RECORDER_H
