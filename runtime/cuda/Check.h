//===- Check.h - errors of CUDA calls -------------------------------------===//
//
// While a model is made, a call that fails throws.  While a program runs, nothing may throw through
// generated code.  Then the first error is kept with the failed call or kernel and the current
// graph op,
//
//   train, action 12 (layer_norm -> h.0.ln_1 [256 x 768]): k3_kernel:
//     cudaErrorInvalidConfiguration (9): invalid configuration argument
//
// and thrown when the program has ended.
//
// CUDA calls in the runtime's host code (without collectives and matmuls):
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

// Returns "cudaErrorInvalidConfiguration (9): invalid configuration argument".
std::string describeCuda(cudaError_t error);

// Throws Error if the call failed.
void checkCuda(cudaError_t status, const char *call);

// Calls cudaEventQuery, but clears the error state after cudaErrorNotReady, which is not an error.
cudaError_t queryEvent(cudaEvent_t event);

// The first error in any program of a model.
class ProgramErrors {
public:
  // Set the running program, and its current action.
  void enter(const br_program &next) { program = &next, action = -1; }
  void at(int32_t next) { action = next; }

  void note(cudaError_t error, const char *call);
  // The error of a kernel launch.
  void note(cudaError_t error, const void *kernel);
  // The error message of a library.
  void note(const std::string &text);

  bool any() const { return !first.empty(); }
  const std::string &text() const { return first; }

  // Returns "matmul -> h.0.mlp [256 x 3072]"; empty between programs and for actions without a name.
  const char *actionName() const;

private:
  std::string place() const;

  const br_program *program = nullptr;
  int32_t action = -1;
  std::string first;
};

} // namespace braid
#endif // BRAID_CUDA_CHECK_H
