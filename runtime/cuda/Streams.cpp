//===- Streams.cpp - streams, events, memory and graphs of CUDA -----------===//

#include "gpu/Streams.h"

#include "cuda/Check.h"
#include "gpu/Graph.h"
#include "gpu/Memory.h"

#include <cstring>

using namespace braid;

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

GpuStream::GpuStream(Priority priority) {
  int least = 0, greatest = 0;
  checkCuda(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
  cudaStream_t stream = nullptr;
  checkCuda(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority == Priority::High ? greatest : least),
            "cudaStreamCreateWithPriority");
  handle = {stream};
}
GpuStream::~GpuStream() { cudaStreamDestroy(handle); }

GpuStatus GpuStream::wait(const GpuEvent &event) const {
  return {cudaStreamWaitEvent(handle, event.native(), 0), "cudaStreamWaitEvent"};
}

GpuStatus GpuStream::copyToDevice(void *to, const void *from, size_t bytes) const {
  return {cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, handle), "cudaMemcpyAsync"};
}
GpuStatus GpuStream::copyToHost(void *to, const void *from, size_t bytes) const {
  return {cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, handle), "cudaMemcpyAsync"};
}
GpuStatus GpuStream::copyOnDevice(void *to, const void *from, size_t bytes) const {
  return {cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, handle), "cudaMemcpyAsync"};
}
GpuStatus GpuStream::copyOnDevice(void *to, size_t toPitch, const void *from, size_t fromPitch, size_t bytes,
                                  size_t rows) const {
  return {cudaMemcpy2DAsync(to, toPitch, from, fromPitch, bytes, rows, cudaMemcpyDeviceToDevice, handle),
          "cudaMemcpy2DAsync"};
}
GpuStatus GpuStream::fillZeros(void *at, size_t bytes) const {
  return {cudaMemsetAsync(at, 0, bytes, handle), "cudaMemsetAsync"};
}
GpuStatus GpuStream::synchronize() const { return {cudaStreamSynchronize(handle), "cudaStreamSynchronize"}; }

bool GpuStream::isCapturing() const {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  checkCuda(cudaStreamIsCapturing(handle, &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

GpuEvent::GpuEvent(Kind kind) {
  const unsigned flags = kind == Kind::Timed ? cudaEventDefault : cudaEventDisableTiming;
  cudaEvent_t event = nullptr;
  checkCuda(cudaEventCreateWithFlags(&event, flags), "cudaEventCreateWithFlags");
  handle = {event};
}
GpuEvent::~GpuEvent() {
  if (handle.pointer)
    cudaEventDestroy(handle);
}

GpuStatus GpuEvent::record(const GpuStream &stream) const {
  return {cudaEventRecord(handle, stream.native()), "cudaEventRecord"};
}
GpuStatus GpuEvent::synchronize() const { return {cudaEventSynchronize(handle), "cudaEventSynchronize"}; }

std::optional<GpuStatus> GpuEvent::query() const {
  const cudaError_t code = cudaEventQuery(handle);
  if (code != cudaErrorNotReady)
    return GpuStatus{code, "cudaEventQuery"};
  clearGpuError(); // else a library would report it as its own failure
  return std::nullopt;
}

float GpuEvent::millisecondsTo(const GpuEvent &later) const {
  float milliseconds = 0;
  checkCuda(cudaEventElapsedTime(&milliseconds, handle, later.native()), "cudaEventElapsedTime");
  return milliseconds;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

const DeviceAllocator braid::usualAllocator = {"cudaMalloc",
                                               [](void **memory, uint64_t bytes) -> std::string {
                                                 const cudaError_t status = cudaMalloc(memory, bytes);
                                                 if (status != cudaSuccess)
                                                   clearGpuError();
                                                 return status == cudaSuccess ? "" : describeCuda(status);
                                               },
                                               [](void *memory) { cudaFree(memory); }};

PinnedMemory::PinnedMemory(size_t bytes, const char *purpose) {
  if (!bytes)
    return;
  void *block = nullptr;
  GpuStatus{cudaMallocHost(&block, bytes), "cudaMallocHost"}.check(purpose);
  base = static_cast<std::byte *>(std::memset(block, 0, bytes));
}
PinnedMemory::~PinnedMemory() { cudaFreeHost(base); }

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

GpuGraph::~GpuGraph() {
  if (isMade())
    cudaGraphExecDestroy(handle);
}

GpuStatus GpuGraph::begin(const GpuStream &stream) {
  return {cudaStreamBeginCapture(stream.native(), cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture"};
}

GpuStatus GpuGraph::end(const GpuStream &stream, bool keeps) {
  cudaGraph_t captured = nullptr;
  cudaGraphExec_t made = nullptr;
  GpuStatus status = {cudaStreamEndCapture(stream.native(), &captured), "cudaStreamEndCapture"};
  if (keeps && status.isGood())
    status = {cudaGraphInstantiate(&made, captured, cudaGraphInstantiateFlagUseNodePriority), "cudaGraphInstantiate"};
  if (captured)
    cudaGraphDestroy(captured);
  handle = {made};
  return status;
}

const char *const GpuGraph::launchCall = "cudaGraphLaunch";

GpuStatus GpuGraph::launch(const GpuStream &stream) const {
  return {cudaGraphLaunch(handle, stream.native()), launchCall};
}
