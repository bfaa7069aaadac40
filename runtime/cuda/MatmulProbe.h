//===- MatmulProbe.h - what cuBLASLt has for a model's matmuls ------------===//
//
// Asks the library's heuristic for each distinct matmul and each way to end it, as the start of a
// run does, without an arena: nothing is computed.  So it is known in seconds which epilogues the
// library of a machine computes.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_MATMULPROBE_H
#define BRAID_CUDA_MATMULPROBE_H

#include "braid_rt.h"

namespace braid {

// Prints a JSON object a line for each; `device` as in Rank.  Throws Error where there is no such device, or the
// library does not start.
void listMatmulsOfCuda(const br_model &model, int device);

} // namespace braid
#endif // BRAID_CUDA_MATMULPROBE_H
