//===- braid_cuda.h - what generated CUDA programs call beside braid_rt.h -===//
//
// A program for a GPU is the same list of calls as one for the CPU; kernels are
// launched where the CPU runs loops.  These functions tell it the stream, and the
// runtime what is being launched: nothing here waits for the device.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_H
#define BRAID_CUDA_H

#include "braid_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

// Registers the target "cuda"; main calls it before br_main.
void br_use_cuda(void);

// Tells of a kernel that programs launch, by its address, before main is called.
void br_cuda_kernel(const void *kernel);

// The stream of computation, a cudaStream_t.
void *br_cuda_stream(br_context *ctx);

// What cuBLASLt has left of a matmul's epilogue to kernels of the program, as flags.
typedef enum { BR_REST_BIAS = 1, BR_REST_ACTIVATION = 2, BR_REST_BIAS_GRAD = 4 } br_rest;

typedef struct {
  int32_t left; // of br_rest
  const br_matmul_desc *desc;
  const void *a, *b, *bias;
  void *c, *aux, *bias_grad, *workspace;
} br_matmul_rest;

// That of the last br_matmul, whose product is on the stream; null if nothing is left
// (cuda/MatmulRest.h).
const br_matmul_rest *br_cuda_matmul_rest(br_context *ctx);

// Whether a kernel that is launched now may begin before the one in front of it has ended, and
// wait for that end itself: it follows another kernel of the program, with nothing between them,
// and the GPU, the code and the options allow it (--programmatic-launch).
int br_cuda_begins_early(br_context *ctx);

// Notes the outcome of a CUDA call, a cudaError_t: the first error is kept, with the
// call's name and the action's.
void br_cuda_check(br_context *ctx, int error, const char *call);

// The same of a kernel's launch; `kernel` is the address that was launched.
void br_cuda_launched(br_context *ctx, int error, const void *kernel);

// BR_ERROR after the first error that was noted.
br_status br_cuda_status(br_context *ctx);

#ifdef __cplusplus
}
#endif
#endif // BRAID_CUDA_H
