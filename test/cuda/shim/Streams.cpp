//===- Streams.cpp - calls about streams and events -----------------------===//
#include "Capture.h"
#include "Failures.h"
#include "Queues.h"

using namespace shim;

cudaError_t shim::waitForStream(cudaStream_t stream) {
  Lock lock(queuesMutex);
  stream = streamOrDefault(stream);
  if (stream->capture || refusesUnsafeCall()) {
    if (stream->capture)
      stream->capture->invalid = true;
    return noteError(cudaErrorStreamCaptureUnsupported);
  }
  runUntil(lock, stream->device, [&] { return isDrained(stream); });
  recordSync("sync_stream", stream->owner, "which", stream->id);
  return cudaSuccess;
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned, int) {
  FAIL_IF_TOLD(cudaStreamCreate);
  int count;
  if (cudaError_t error = cudaGetDeviceCount(&count))
    return error;
  Lock lock(queuesMutex);
  *stream = makeStream(currentDevice());
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
cudaError_t cudaStreamCreate(cudaStream_t *stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  Lock lock(queuesMutex);
  destroyStream(lock, stream);
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  FAIL_IF_TOLD(cudaStreamSynchronize);
  return waitForStream(stream);
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  FAIL_IF_TOLD(cudaStreamQuery);
  Lock lock(queuesMutex);
  stream = streamOrDefault(stream);
  if (stream->capture || refusesUnsafeCall())
    return noteError(cudaErrorStreamCaptureUnsupported);
  runAll(lock, stream->device);
  if (!isDrained(stream))
    return cudaErrorNotReady;
  recordSync("sync_stream", stream->owner, "which", stream->id);
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  FAIL_IF_TOLD(cudaStreamWaitEvent);
  return noteError(issueWait(stream, event));
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data) {
  FAIL_IF_TOLD(cudaLaunchHostFunc);
  return noteError(issue(stream, [=] {
    return Work{nullptr,
                [=](const Issue &issue) {
                  function(data);
                  if (tracing())
                    Line(issue, "host_function").write(issue.owner);
                },
                {}};
  }));
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
  FAIL_IF_TOLD(cudaEventCreate);
  Lock lock(queuesMutex);
  *event = makeEvent(flags);
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

// Pending work may still refer to it.
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  FAIL_IF_TOLD(cudaEventRecord);
  return noteError(issueRecord(stream, event));
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  FAIL_IF_TOLD(cudaEventQuery);
  Lock lock(queuesMutex);
  if (event->capture)
    return noteError(cudaErrorCapturedEvent);
  if (refusesUnsafeCall())
    return noteError(cudaErrorStreamCaptureUnsupported);
  runAll(lock, event->device);
  if (event->done < event->recorded)
    return noteError(cudaErrorNotReady);
  recordSync("sync_event", event->owner, "event", event->id, event->recorded);
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  FAIL_IF_TOLD(cudaEventSynchronize);
  Lock lock(queuesMutex);
  if (event->capture)
    return noteError(cudaErrorCapturedEvent);
  if (refusesUnsafeCall())
    return noteError(cudaErrorStreamCaptureUnsupported);
  uint64_t version = event->recorded;
  runUntil(lock, event->device, [&] { return event->done >= version; });
  recordSync("sync_event", event->owner, "event", event->id, version);
  return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
  Lock lock(queuesMutex);
  if (!start->timed || !end->timed || !start->recorded || !end->recorded)
    return noteError(cudaErrorInvalidResourceHandle);
  if (start->done < start->recorded || end->done < end->recorded)
    return noteError(cudaErrorNotReady);
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
  return cudaSuccess;
}
