//===- CudnnGraph.h - a call of attention as a graph of cuDNN -------------===//
//
// The frontend is header files of a Python package (nvidia-cudnn-frontend), which is
// where this includes them from; who includes this must have found them.
//
// Conventions: cuDNN names dims batch, heads, sequence, size in this order whatever lies
// beside what in memory, which strides say.  Ours are batch, sequence, heads, size.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_CUDNNGRAPH_H
#define BRAID_CUDA_CUDNNGRAPH_H

#include "braid_rt.h"

#define NV_CUDNN_FRONTEND_USE_DYNAMIC_LOADING
#include <cudnn_frontend.h>

#include <memory>

namespace braid {

// The tensors of a graph, by which a run says where they are.
enum CudnnTensor : int64_t { kQ = 1, kK, kV, kO, kLse, kDout, kDq, kDk, kDv };

// Of attention, or of its gradient; nothing is asked of the library yet.
std::unique_ptr<cudnn_frontend::graph::Graph> makeAttentionGraph(const br_attention_desc &desc);

} // namespace braid
#endif // BRAID_CUDA_CUDNNGRAPH_H
