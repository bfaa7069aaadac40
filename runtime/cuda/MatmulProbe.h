//===- MatmulProbe.h - lists cuBLASLt's algorithms for a model ------------===//
//
// Asks the library's heuristic about each distinct matmul and each variant of it, as a run does at
// start.  It needs no arena and computes nothing.  So it tells within seconds which epilogues a
// machine's library computes.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_MATMULPROBE_H
#define BRAID_CUDA_MATMULPROBE_H

#include "braid_rt.h"

namespace braid {

// Prints one JSON object a line for each distinct matmul and variant; `device` as in Rank.
// Throws Error if there is no such device or the library does not start.
void listMatmulsOfCuda(const br_model &model, int device);

} // namespace braid
#endif // BRAID_CUDA_MATMULPROBE_H
