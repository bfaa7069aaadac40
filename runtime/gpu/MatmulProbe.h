//===- MatmulProbe.h - lists the algorithms for a model's matmuls ---------===//
//
// Asks the library's heuristic about each distinct matmul and each variant of it, as a run does at
// start.  It needs no arena and computes nothing.  So it tells within seconds which epilogues a
// machine's library computes.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_GPU_MATMULPROBE_H
#define BRAID_GPU_MATMULPROBE_H

#include "braid_rt.h"

namespace braid {

// Prints one JSON object a line for each distinct matmul and variant; `device` as in Rank.
// Throws Error if there is no such device or the library does not start.
void listGpuMatmuls(const br_model &model, int device);

} // namespace braid
#endif // BRAID_GPU_MATMULPROBE_H
