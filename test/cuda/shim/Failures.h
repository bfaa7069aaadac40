//===- Failures.h - calls that fail on demand -----------------------------===//
//
// BRAID_SHIM_FAIL=cudaMalloc:2:cudaErrorMemoryAllocation,ncclAllReduce:1:ncclSystemError:3
// makes the second call of the one (of the process) and the first call of the other by a
// thread whose current device is 3 fail.
//
// BRAID_SHIM_BLOCK=cudaGraphLaunch:2::1 makes the second call by a thread whose current
// device is 1 never return.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_SHIM_FAILURES_H
#define BRAID_SHIM_FAILURES_H

#include "cuda_runtime.h"

#include <string>

namespace shim {

// Returns the name of the error that this call must return, or "".
std::string injectedFailure(const char *call);

// Returns whether a call has already failed by a rule.
bool anyInjected();

// Does not return if this call must block.
void blockIfTold(const char *call);

// Keeps the error for cudaGetLastError, and returns it.
cudaError_t noteError(cudaError_t error);
// Returns the error that a runtime function must return immediately, if any.
cudaError_t failureOf(const char *call);
#define FAIL_IF_TOLD(call)                                                                                             \
  if (cudaError_t error = ::shim::failureOf(#call))                                                                    \
  return error

} // namespace shim
#endif // BRAID_SHIM_FAILURES_H
