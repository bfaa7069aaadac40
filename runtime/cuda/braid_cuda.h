//===- braid_cuda.h - C ABI of generated CUDA programs --------------------===//
//
// A GPU program is the same list of calls as a CPU program, but launches kernels where the CPU runs
// loops.  These functions give the program the stream, and report launches to the runtime.  None of
// them waits for the device.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_H
#define BRAID_CUDA_H

#include "gpu/braid_gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

// Registers the target "cuda"; main calls it before br_main.
void br_use_cuda(void);

// Registers a kernel that programs launch, by its address, before main runs.
void br_cuda_kernel(const void *kernel);

// Returns the compute stream, a cudaStream_t.
void *br_cuda_stream(br_context *ctx);

// Returns the rest of the last br_matmul, whose product is already on the stream; null if nothing
// is left (cuda/MatmulRest.h).
const br_matmul_rest *br_cuda_matmul_rest(br_context *ctx);

// Whether a kernel launched now may begin before the previous kernel ends, and wait for that end
// itself.  True if it directly follows another kernel of the program, and the GPU, the code and the
// options allow it (--programmatic-launch).
int br_cuda_begins_early(br_context *ctx);

// Notes the result of a CUDA call, a cudaError_t.  Keeps the first error, with the names of the
// call and of the action.
void br_cuda_check(br_context *ctx, int error, const char *call);

// Notes the result of a kernel launch; `kernel` is the launched address.
void br_cuda_launched(br_context *ctx, int error, const void *kernel);

// Returns BR_ERROR after the first noted error.
br_status br_cuda_status(br_context *ctx);

#ifdef __cplusplus
}
#endif
#endif // BRAID_CUDA_H
