//===- ShimAttention.cpp - attention on the host, in cuDNN's place --------===//
//
// What the runtime's CudaAttentionTable does by cuDNN, as plain loops over bf16 with sums
// in f32, in the order of the stream.  The scores are never in memory, as in the library:
// a row of them is made again where it is needed.
//
//===----------------------------------------------------------------------===//

#include "cuda/Attention.h"

#include "Queues.h"
#include "core/Error.h"

#include <cmath>
#include <cuda_bf16.h>
#include <vector>

using namespace braid;
