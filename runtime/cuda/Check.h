//===- Check.h - errors of CUDA calls -------------------------------------===//
//
// CUDA calls in the runtime's host code (without collectives and matmuls):
//   cudaGetDeviceCount cudaSetDevice cudaGetDeviceProperties cudaMemGetInfo
//   cudaRuntimeGetVersion cudaGetDevice cudaDeviceGetAttribute cudaDeviceGetPCIBusId
//   cudaMalloc cudaFree cudaMallocHost cudaFreeHost cudaMemcpyAsync cudaMemcpy2DAsync
//   cudaMemsetAsync
//   cudaDeviceGetStreamPriorityRange cudaStreamCreateWithPriority
//   cudaStreamDestroy cudaStreamSynchronize cudaStreamWaitEvent
//   cudaStreamBeginCapture cudaStreamEndCapture cudaStreamIsCapturing
//   cudaEventCreateWithFlags cudaEventDestroy cudaEventRecord cudaEventSynchronize
//   cudaEventElapsedTime cudaEventQuery
//   cudaGraphInstantiate cudaGraphLaunch cudaGraphDestroy cudaGraphExecDestroy
//   cudaGetErrorName cudaGetErrorString cudaGetLastError cudaFuncGetName
//   cudaFuncGetAttributes
//   nvtxRangePushA nvtxRangePop
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_CHECK_H
#define BRAID_CUDA_CHECK_H

#include "gpu/Status.h"

#include <cuda_runtime_api.h>

namespace braid {

inline std::string describeCuda(cudaError_t error) { return GpuStatus{error}.describe(); }

// Throws Error if the call failed.
inline void checkCuda(cudaError_t status, const char *call) { GpuStatus{status, call}.check(); }

} // namespace braid
#endif // BRAID_CUDA_CHECK_H
