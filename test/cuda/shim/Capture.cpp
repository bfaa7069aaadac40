//===- Capture.cpp - graphs -----------------------------------------------===//
#include "Capture.h"

#include "Failures.h"

#include <algorithm>
#include <map>
#include <set>

using namespace shim;

struct CUgraph_st {
  std::vector<Node> nodes;
  size_t streams;
};

struct CUgraphExec_st {
  int id, device, replays = 0;
  std::vector<Node> nodes;
  std::vector<cudaStream_t> streams;    // the first is that of the launch
  std::map<size_t, cudaEvent_t> events; // by the node that records
};

namespace {
std::set<Capture *> active;
int execCount = 0;
thread_local cudaStreamCaptureMode threadMode = cudaStreamCaptureModeGlobal;
} // namespace

int Capture::placeOf(cudaStream_t stream) const {
  return std::find(streams.begin(), streams.end(), stream) - streams.begin();
}

cudaError_t Capture::note(cudaStream_t stream, const MakeWork &make) {
  if (invalid)
    return cudaErrorStreamCaptureInvalidated;
  nodes.push_back({Node::Task, placeOf(stream), make, currentAction()});
  return cudaSuccess;
}

cudaError_t Capture::noteRecord(cudaStream_t stream, cudaEvent_t event) {
  if (invalid)
    return cudaErrorStreamCaptureInvalidated;
  event->capture = this;
  event->captured = nodes.size();
  nodes.push_back({Node::Record, placeOf(stream), nullptr, currentAction()});
  return cudaSuccess;
}

cudaError_t shim::noteWait(cudaStream_t stream, cudaEvent_t event) {
  Capture *capture = event->capture;
  if (!capture || (stream->capture && stream->capture != capture)) {
    stream->capture->invalid = true;
    return cudaErrorStreamCaptureIsolation;
  }
  if (!active.count(capture))
    return cudaErrorCapturedEvent;
  if (capture->invalid)
    return cudaErrorStreamCaptureInvalidated;
  if (!stream->capture) {
    stream->capture = capture;
    capture->streams.push_back(stream);
  }
  capture->nodes.push_back({Node::Wait, capture->placeOf(stream), nullptr, currentAction(), event->captured});
  return cudaSuccess;
}

bool Capture::isJoined() const {
  // Walks backward from the origin's end. A node comes after all its predecessors.
  std::vector<bool> wanted(streams.size(), false), reached(nodes.size(), false);
  wanted[0] = true;
  bool all = true;
  for (size_t i = nodes.size(); i-- > 0;) {
    const Node &node = nodes[i];
    if (!wanted[node.stream] && !reached[i]) {
      all &= node.kind != Node::Task;
      continue;
    }
    wanted[node.stream] = true;
    if (node.kind == Node::Wait)
      reached[node.record] = true;
  }
  return all;
}

bool shim::refusesUnsafeCall() {
  bool refused = false;
  if (threadMode == cudaStreamCaptureModeRelaxed)
    return false;
  for (Capture *capture : active)
    if (capture->mode == cudaStreamCaptureModeGlobal ||
        (capture->mode == cudaStreamCaptureModeThreadLocal && capture->host == hostId()))
      refused = capture->invalid = true;
  return refused;
}

//===----------------------------------------------------------------------===//
// The runtime's functions
//===----------------------------------------------------------------------===//

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode) {
  std::swap(*mode, threadMode);
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  if (cudaError_t error = failureOf("cudaStreamBeginCapture"))
    return error;
  Lock lock(queuesMutex);
  if (!stream || stream->capture)
    return noteError(stream ? cudaErrorInvalidValue : cudaErrorStreamCaptureUnsupported);
  stream->capture = new Capture{{stream}, {}, mode, hostId()};
  active.insert(stream->capture);
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  if (cudaError_t error = failureOf("cudaStreamEndCapture"))
    return error;
  Lock lock(queuesMutex);
  *graph = nullptr;
  if (!stream || !stream->capture || stream->capture->streams[0] != stream)
    return noteError(cudaErrorStreamCaptureUnmatched);
  Capture *capture = stream->capture; // kept: events may still name it
  if (capture->mode != cudaStreamCaptureModeRelaxed && capture->host != hostId())
    return noteError(cudaErrorStreamCaptureWrongThread);
  active.erase(capture);
  for (cudaStream_t joined : capture->streams)
    joined->capture = nullptr;
  const bool isJoined = capture->isJoined();
  std::vector<Node> nodes = std::move(capture->nodes); // what they hold goes with the graph
  if (capture->invalid)
    return noteError(cudaErrorStreamCaptureInvalidated);
  if (!isJoined)
    return noteError(cudaErrorStreamCaptureUnjoined);
  *graph = new CUgraph_st{std::move(nodes), capture->streams.size()};
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
  Lock lock(queuesMutex);
  stream = streamOrDefault(stream);
  *status = !stream->capture           ? cudaStreamCaptureStatusNone
            : stream->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                       : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
  if (nodes)
    return noteError(cudaErrorNotSupported);
  *count = std::count_if(graph->nodes.begin(), graph->nodes.end(), [](auto &node) { return node.kind == Node::Task; });
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long) {
  if (cudaError_t error = failureOf("cudaGraphInstantiate"))
    return error;
  Lock lock(queuesMutex);
  auto *result = new CUgraphExec_st{execCount++, currentDevice(), 0, graph->nodes, {nullptr}, {}};
  for (size_t i = 1; i < graph->streams; ++i)
    result->streams.push_back(makeStream(result->device, true));
  for (size_t i = 0; i < graph->nodes.size(); ++i)
    if (graph->nodes[i].kind == Node::Record)
      result->events[i] = makeEvent(cudaEventDisableTiming);
  *exec = result;
  return cudaSuccess;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  blockIfTold("cudaGraphLaunch");
  if (cudaError_t error = failureOf("cudaGraphLaunch"))
    return error;
  Lock lock(queuesMutex);
  stream = streamOrDefault(stream);
  if (stream->device != exec->device)
    return noteError(cudaErrorInvalidValue);
  if (stream->capture)
    return noteError(cudaErrorNotSupported);
  exec->streams[0] = stream;
  Replay replay{exec->id, exec->replays++, true};
  Work start;
  start.run = [](const Issue &issue) {
    if (tracing())
      Line(issue, "graph").write(issue.owner);
  };
  issueNow(stream, std::move(start), {}, replay);
  for (size_t i = 0; i < exec->nodes.size(); ++i) {
    const Node &node = exec->nodes[i];
    cudaStream_t on = exec->streams[node.stream];
    on->owner = stream->owner;
    if (node.kind == Node::Task)
      issueNow(on, node.make(), node.action, replay);
    else if (node.kind == Node::Record)
      recordNow(on, exec->events[i], node.action, replay);
    else
      waitNow(on, exec->events[node.record], node.action, replay);
  }
  runAll(lock, stream->device);
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  Lock lock(queuesMutex);
  for (size_t i = 1; i < exec->streams.size(); ++i)
    destroyStream(lock, exec->streams[i]);
  delete exec; // its events may still be waited for
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
