//===- Check.h - errors of CUDA calls -------------------------------------===//
//
// While a model is made, a call that fails throws.  While a program runs nothing may
// throw through generated code: the first error is kept, with the call or kernel that
// gave it and the graph op that the program was at,
//
//   train, action 12 (layer_norm -> h.0.ln_1 [256 x 768]): k3_kernel:
//     cudaErrorInvalidConfiguration (9): invalid configuration argument
//
// and thrown when the program is over.
//
// What the runtime's host code uses of CUDA (collectives and matmuls apart):
//   cudaGetDeviceCount cudaSetDevice cudaGetDeviceProperties cudaMemGetInfo
//   cudaRuntimeGetVersion
//   cudaMalloc cudaFree cudaMallocHost cudaFreeHost cudaMemcpyAsync cudaMemsetAsync
//   cudaDeviceGetStreamPriorityRange cudaStreamCreateWithPriority
//   cudaStreamDestroy cudaStreamSynchronize cudaStreamWaitEvent
//   cudaStreamBeginCapture cudaStreamEndCapture
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

#include "braid_rt.h"

#include <cuda_runtime_api.h>
#include <string>

namespace braid {

// "cudaErrorInvalidConfiguration (9): invalid configuration argument".
std::string describeCuda(cudaError_t error);

// Throws Error unless the call has succeeded.
void checkCuda(cudaError_t status, const char *call);

// cudaEventQuery, whose "not ready" is not an error and leaves none behind.
cudaError_t queryEvent(cudaEvent_t event);

// The first error of the programs of a model.
class ProgramErrors {
public:
  // What runs now, and which of its actions comes next.
  void enter(const br_program &next) { program = &next, action = -1; }
  void at(int32_t next) { action = next; }

  void note(cudaError_t error, const char *call);
  // Of a launch.
  void note(cudaError_t error, const void *kernel);
  // The message of a library.
  void note(const std::string &text);

  bool any() const { return !first.empty(); }
  const std::string &text() const { return first; }

  // "matmul -> h.0.mlp [256 x 3072]"; empty between programs and where there is no name.
  const char *actionName() const;

private:
  std::string place() const;

  const br_program *program = nullptr;
  int32_t action = -1;
  std::string first;
};

} // namespace braid
#endif // BRAID_CUDA_CHECK_H
