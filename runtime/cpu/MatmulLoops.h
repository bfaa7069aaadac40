//===- MatmulLoops.h - matmuls that no library takes ----------------------===//
//
// oneDNN multiplies bf16 only where there is avx512.  Elsewhere these loops do, so
// that what was compiled in bf16 runs on every processor, if slowly.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CPU_MATMULLOOPS_H
#define BRAID_CPU_MATMULLOOPS_H

#include "braid_rt.h"

namespace braid {

// Whether oneDNN multiplies bf16 here at all, and by instructions for it.
bool multipliesBFloat16();
bool multipliesBFloat16Fast();

// Sums in f32 and rounds once.
void multiplyByLoops(const br_matmul_desc &d, int threads, const char *a, const char *b, char *c, const char *bias);

} // namespace braid
#endif // BRAID_CPU_MATMULLOOPS_H
