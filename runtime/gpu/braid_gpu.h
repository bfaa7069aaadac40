//===- braid_gpu.h - C ABI of generated programs of every GPU -------------===//
#ifndef BRAID_GPU_H
#define BRAID_GPU_H

#include "braid_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

// Parts of a matmul's epilogue that the GEMM library has left to kernels of the program, as flags.
typedef enum { BR_REST_BIAS = 1, BR_REST_ACTIVATION = 2, BR_REST_BIAS_GRAD = 4 } br_rest;

typedef struct {
  int32_t left; // flags of br_rest
  const br_matmul_desc *desc;
  const void *a, *b, *bias;
  void *c, *aux, *bias_grad, *workspace;
} br_matmul_rest;

#ifdef __cplusplus
}
#endif
#endif // BRAID_GPU_H
