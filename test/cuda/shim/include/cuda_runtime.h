//===- cuda_runtime.h - CUDA for machines without it ---------------------===//
//
// Declarations of the part of the CUDA runtime that programs of braidc and their runtime use, for a plain C++ compiler.
// The shim's library implements them: the threads of a block take turns on one host thread, streams run in the order of
// issue as soon as nothing blocks them, and every access is checked.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_SHIM_CUDA_RUNTIME_H
#define BRAID_SHIM_CUDA_RUNTIME_H

#include "shim/Types.h"

#include "shim/DeviceFunctions.h"

#include <type_traits>
#include <utility>

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

#define BRAID_SHIM_ERRORS(X)                                                                                           \
  X(cudaSuccess, 0, "no error")                                                                                        \
  X(cudaErrorInvalidValue, 1, "invalid argument")                                                                      \
  X(cudaErrorMemoryAllocation, 2, "out of memory")                                                                     \
  X(cudaErrorInitializationError, 3, "initialization error")                                                           \
  X(cudaErrorCudartUnloading, 4, "driver shutting down")                                                               \
  X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                                                \
  X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                                          \
  X(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version")                   \
  X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                                                     \
  X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                                      \
  X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                                             \
  X(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device")                  \
  X(cudaErrorECCUncorrectable, 214, "uncorrectable ECC error encountered")                                             \
  X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                                                    \
  X(cudaErrorNotReady, 600, "device not ready")                                                                        \
  X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                                          \
  X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")                                     \
  X(cudaErrorHostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped")          \
  X(cudaErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region")                \
  X(cudaErrorMisalignedAddress, 716, "misaligned address")                                                             \
  X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                                         \
  X(cudaErrorNotSupported, 801, "operation not supported")                                                             \
  X(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing")                        \
  X(cudaErrorStreamCaptureInvalidated, 901, "operation failed due to a previous error during capture")                 \
  X(cudaErrorStreamCaptureUnmatched, 903, "the capture was not initiated in this stream")                              \
  X(cudaErrorStreamCaptureUnjoined, 904, "capturing stream has unjoined work")                                         \
  X(cudaErrorStreamCaptureIsolation, 905, "dependency created on uncaptured work in another stream")                   \
  X(cudaErrorCapturedEvent, 907, "operation not permitted on an event last recorded in a capturing stream")            \
  X(cudaErrorStreamCaptureWrongThread, 908,                                                                            \
    "attempt to terminate a thread-local capture sequence from another thread")                                        \
  X(cudaErrorUnknown, 999, "unknown error")

typedef enum cudaError {
#define X(name, value, text) name = value,
  BRAID_SHIM_ERRORS(X)
#undef X
} cudaError_t;

const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrClockRate = 13,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMemoryPoolsSupported = 115
};

struct cudaDeviceProp {
  char name[256];
  unsigned char uuid[16];
  size_t totalGlobalMem, sharedMemPerBlock;
  int warpSize, maxThreadsPerBlock, major, minor, multiProcessorCount, maxThreadsPerMultiProcessor;
  int pciBusID, pciDeviceID, pciDomainID, l2CacheSize, memoryBusWidth;
};

cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceGetPCIBusId(char *id, int length, int device);
cudaError_t cudaMemGetInfo(size_t *available, size_t *total);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaFree(void *pointer);

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
constexpr unsigned cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2,
                   cudaHostAllocWriteCombined = 4;
constexpr unsigned cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1;

cudaError_t cudaMalloc(void **pointer, size_t bytes);
cudaError_t cudaMallocHost(void **pointer, size_t bytes);
cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void *pointer);
cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void *pointer);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2DAsync(void *to, size_t toPitch, const void *from, size_t fromPitch, size_t width, size_t rows,
                              cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void *to, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream = nullptr);
template <class T> inline cudaError_t cudaMalloc(T **pointer, size_t bytes) {
  return cudaMalloc(reinterpret_cast<void **>(pointer), bytes);
}
template <class T> inline cudaError_t cudaMallocHost(T **pointer, size_t bytes) {
  return cudaMallocHost(reinterpret_cast<void **>(pointer), bytes);
}

//===----------------------------------------------------------------------===//
// Streams, events and graphs
//===----------------------------------------------------------------------===//

typedef struct CUevent_st *cudaEvent_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct CUgraphNode_st *cudaGraphNode_t;
typedef void (*cudaHostFn_t)(void *data);
constexpr unsigned cudaStreamDefault = 0, cudaStreamNonBlocking = 1;
constexpr unsigned cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2,
                   cudaEventInterprocess = 4;
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal,
  cudaStreamCaptureModeThreadLocal,
  cudaStreamCaptureModeRelaxed
};
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone,
  cudaStreamCaptureStatusActive,
  cudaStreamCaptureStatusInvalidated
};
enum cudaGraphInstantiateFlags { cudaGraphInstantiateFlagUseNodePriority = 8 };

cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority);
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status);
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags = 0);
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count);
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

enum cudaLaunchAttributeID { cudaLaunchAttributeIgnore = 0, cudaLaunchAttributeProgrammaticStreamSerialization = 6 };
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  union {
    int programmaticStreamSerializationAllowed;
  } val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
  cudaLaunchAttribute *attrs = nullptr;
  unsigned numAttrs = 0;
};

struct cudaFuncAttributes {
  int binaryVersion, ptxVersion;
};
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *function);
cudaError_t cudaFuncGetName(const char **name, const void *function);

namespace shim {
// Calls a kernel with its arguments, once per thread. All kernels share one type, because separate library types for
// each kernel would take long to compile.
struct Call {
  void (*run)(const void *values);
  const void *values; // copied by launch()
  size_t bytes;
};
cudaError_t launch(const cudaLaunchConfig_t &config, const void *kernel, size_t argumentBytes, const Call &call);
} // namespace shim

template <class... P, class... A>
inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(P...), A &&...args) {
  auto call = [kernel, ... values = static_cast<P>(std::forward<A>(args))] { kernel(values...); };
  using Values = decltype(call);
  static_assert(std::is_trivially_copyable_v<Values>);
  return shim::launch(*config, reinterpret_cast<const void *>(kernel), (sizeof(P) + ... + 0),
                      {[](const void *values) { (*static_cast<const Values *>(values))(); }, &call, sizeof call});
}

#endif // BRAID_SHIM_CUDA_RUNTIME_H
