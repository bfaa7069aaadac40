//===- MatmulLoops.h - matmuls without oneDNN -----------------------------===//
//
// oneDNN multiplies bf16 only with avx512. On other processors these loops do, so that a model compiled in
// bf16 runs everywhere, but slowly.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CPU_MATMULLOOPS_H
#define BRAID_CPU_MATMULLOOPS_H

#include "braid_rt.h"

namespace braid {

// Whether oneDNN multiplies bf16 on this processor, and whether it does so by dedicated instructions.
bool multipliesBFloat16();
bool multipliesBFloat16Fast();

// Sums in f32 and rounds once.
void multiplyByLoops(const br_matmul_desc &d, int threads, const char *a, const char *b, char *c, const char *bias);

} // namespace braid
#endif // BRAID_CPU_MATMULLOOPS_H
