//===- Runtime.cpp - devices, memory and copies ---------------------------===//
#include "Capture.h"
#include "Failures.h"
#include "Queues.h"
#include "Violation.h"

#include <cstdlib>
#include <cstring>

using namespace shim;

namespace {

thread_local int device = 0;

int deviceCount() {
  const char *text = std::getenv("BRAID_SHIM_DEVICES");
  return text ? std::atoi(text) : 1;
}

bool isDevice(int number) { return number >= 0 && number < deviceCount(); }

} // namespace

int shim::currentDevice() { return device; }

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

cudaError_t cudaGetDeviceCount(int *count) {
  *count = 0;
  FAIL_IF_TOLD(cudaGetDeviceCount);
  *count = deviceCount();
  return *count ? cudaSuccess : noteError(cudaErrorNoDevice);
}

cudaError_t cudaSetDevice(int number) {
  FAIL_IF_TOLD(cudaSetDevice);
  if (!deviceCount())
    return noteError(cudaErrorNoDevice);
  if (!isDevice(number))
    return noteError(cudaErrorInvalidDevice);
  device = number;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int *number) {
  *number = device;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int number) {
  FAIL_IF_TOLD(cudaGetDeviceProperties);
  if (!isDevice(number))
    return noteError(cudaErrorInvalidDevice);
  *properties = {};
  std::snprintf(properties->name, sizeof(properties->name), "Host Shim");
  properties->uuid[0] = number;
  properties->totalGlobalMem = deviceMemory();
  properties->sharedMemPerBlock = 48 << 10;
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = 1024;
  properties->major = 9;
  properties->multiProcessorCount = 132;
  properties->maxThreadsPerMultiProcessor = 2048;
  properties->pciBusID = number + 1;
  properties->l2CacheSize = 50 << 20;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int number) {
  cudaDeviceProp properties;
  if (cudaError_t error = cudaGetDeviceProperties(&properties, number))
    return error;
  switch (attribute) {
  case cudaDevAttrMaxThreadsPerBlock:
    *value = properties.maxThreadsPerBlock;
    break;
  case cudaDevAttrMaxSharedMemoryPerBlock:
    *value = properties.sharedMemPerBlock;
    break;
  case cudaDevAttrWarpSize:
    *value = 32;
    break;
  case cudaDevAttrMultiProcessorCount:
    *value = properties.multiProcessorCount;
    break;
  case cudaDevAttrMaxThreadsPerMultiProcessor:
    *value = properties.maxThreadsPerMultiProcessor;
    break;
  case cudaDevAttrComputeCapabilityMajor:
    *value = properties.major;
    break;
  case cudaDevAttrComputeCapabilityMinor:
    *value = properties.minor;
    break;
  default:
    return noteError(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *id, int length, int number) {
  if (!isDevice(number))
    return noteError(cudaErrorInvalidDevice);
  std::snprintf(id, length, "0000:%02x:00.0", number + 1);
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
  FAIL_IF_TOLD(cudaMemGetInfo);
  *total = deviceMemory();
  *available = *total - allocatedBytes(device);
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  FAIL_IF_TOLD(cudaDeviceSynchronize);
  Lock lock(queuesMutex);
  if (refusesUnsafeCall())
    return noteError(cudaErrorStreamCaptureUnsupported);
  runUntil(lock, device, [] { return isDeviceDrained(device); });
  recordSync("sync_device", hostId(), "device", device);
  return cudaSuccess;
}

cudaError_t cudaDeviceReset() {
  releaseDevice(device);
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version) {
  *version = deviceCount() ? 13000 : 0;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *version) {
  *version = 13000;
  return cudaSuccess;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

cudaError_t cudaMalloc(void **pointer, size_t bytes) {
  FAIL_IF_TOLD(cudaMalloc);
  {
    Lock lock(queuesMutex);
    if (refusesUnsafeCall())
      return noteError(cudaErrorStreamCaptureUnsupported);
  }
  if (!isDevice(device))
    return noteError(cudaErrorNoDevice);
  Allocation *allocation = allocate(device, bytes);
  *pointer = allocation ? allocation->base : nullptr;
  return allocation ? cudaSuccess : noteError(cudaErrorMemoryAllocation);
}

// Frees after all work of the device has ended, as CUDA does.
static void drainDevice() {
  Lock lock(queuesMutex);
  runUntil(lock, device, [] { return isDeviceDrained(device); });
}

cudaError_t cudaFree(void *pointer) {
  drainDevice();
  return !pointer || release(pointer, true) ? cudaSuccess : noteError(cudaErrorInvalidValue);
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes) { return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault); }

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned) {
  FAIL_IF_TOLD(cudaHostAlloc);
  Allocation *allocation = allocate(-1, bytes);
  *pointer = allocation ? allocation->base : nullptr;
  return allocation ? cudaSuccess : noteError(cudaErrorMemoryAllocation);
}

cudaError_t cudaFreeHost(void *pointer) {
  drainDevice();
  return !pointer || release(pointer, false) ? cudaSuccess : noteError(cudaErrorInvalidValue);
}

cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned) {
  FAIL_IF_TOLD(cudaHostRegister);
  if (findAllocation(pointer))
    return noteError(cudaErrorHostMemoryAlreadyRegistered);
  adopt(pointer, bytes);
  return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *pointer) {
  return release(pointer, false) ? cudaSuccess : noteError(cudaErrorHostMemoryNotRegistered);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

namespace {

// Returns the device memory that contains a range; null for host memory.
Allocation *deviceRange(const void *pointer, size_t bytes, const char *call) {
  Allocation *allocation = findAllocation(pointer);
  if (!allocation || allocation->device < 0)
    return nullptr;
  if (!allocation->holds(pointer, bytes))
    violation(format("%s of %zu bytes at byte %td of allocation %d of %zu bytes", call, bytes,
                     static_cast<const char *>(pointer) - allocation->base, allocation->id, allocation->bytes),
              false);
  return allocation;
}

size_t offsetIn(const Allocation &allocation, const void *pointer) {
  return static_cast<const char *>(pointer) - allocation.base;
}

void copy(const Issue &issue, void *to, const void *from, size_t bytes) {
  Allocation *target = deviceRange(to, bytes, "copy"), *source = deviceRange(from, bytes, "copy");
  if (!target && source)
    if (size_t first = source->shadow->unwritten(offsetIn(*source, from), bytes); first < bytes)
      violation(
          format("copy to the host of %zu bytes at byte %zu of allocation %d, of which byte %zu was never written",
                 bytes, offsetIn(*source, from), source->id, first),
          false);
  std::memmove(to, from, bytes);
  if (target && source)
    target->shadow->copied(offsetIn(*target, to), *source->shadow, offsetIn(*source, from), bytes);
  else if (target)
    target->shadow->written(offsetIn(*target, to), bytes);
  if (tracing())
    Line(issue, "copy").range("reads", from, bytes).range("writes", to, bytes).write(issue.owner);
}

bool isHost(const void *pointer) {
  Allocation *allocation = findAllocation(pointer);
  return !allocation || allocation->device < 0;
}

bool fitsKind(const void *to, const void *from, cudaMemcpyKind kind) {
  return kind == cudaMemcpyDefault ||
         (isHost(from) == (kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice) &&
          isHost(to) == (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost));
}

} // namespace

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  FAIL_IF_TOLD(cudaMemcpyAsync);
  if (!bytes)
    return cudaSuccess;
  if (!fitsKind(to, from, kind))
    return noteError(cudaErrorInvalidValue);
  return noteError(
      issue(stream, [=] { return Work{nullptr, [=](const Issue &issue) { copy(issue, to, from, bytes); }, {}}; }));
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t toPitch, const void *from, size_t fromPitch, size_t width, size_t rows,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  FAIL_IF_TOLD(cudaMemcpy2DAsync);
  if (!width || !rows)
    return cudaSuccess;
  if (!fitsKind(to, from, kind) || toPitch < width || fromPitch < width)
    return noteError(cudaErrorInvalidValue);
  return noteError(issue(stream, [=] {
    return Work{nullptr,
                [=](const Issue &issue) {
                  for (size_t row = 0; row < rows; ++row)
                    copy(issue, static_cast<char *>(to) + row * toPitch,
                         static_cast<const char *>(from) + row * fromPitch, width);
                },
                {}};
  }));
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
  FAIL_IF_TOLD(cudaMemcpy);
  if (cudaError_t error = cudaMemcpyAsync(to, from, bytes, kind, nullptr))
    return error;
  return waitForStream(nullptr);
}

// A memset of a whole allocation only makes runs equal; zero is not the right value of anything in it. So its bytes
// count as never written, which exposes reads before writes. A memset of a part counts as a write. A test that needs
// its zeros sets BRAID_SHIM_ZEROS.
static bool givesValues(const Allocation &target, int value, size_t bytes) {
  return value != 0 || bytes != target.bytes || std::getenv("BRAID_SHIM_ZEROS");
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream) {
  FAIL_IF_TOLD(cudaMemsetAsync);
  if (!bytes)
    return cudaSuccess;
  if (isHost(to))
    return noteError(cudaErrorInvalidValue);
  return noteError(issue(stream, [=] {
    return Work{nullptr,
                [=](const Issue &issue) {
                  Allocation *target = deviceRange(to, bytes, "memset");
                  std::memset(to, value, bytes);
                  if (givesValues(*target, value, bytes))
                    target->shadow->written(offsetIn(*target, to), bytes);
                  else
                    target->shadow->unwrite();
                  if (tracing())
                    Line(issue, "memset").range("writes", to, bytes).write(issue.owner);
                },
                {}};
  }));
}

cudaError_t cudaMemset(void *to, int value, size_t bytes) { return cudaMemsetAsync(to, value, bytes, nullptr); }
