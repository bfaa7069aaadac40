//===- CudnnGraph.h - an attention call as a cuDNN graph ------------------===//
//
// cuDNN's frontend consists of header files in a Python package (nvidia-cudnn-frontend), and needs
// the headers of cuDNN and NVRTC.  If one is missing, CMake reports it and defines
// BRAID_RT_WITHOUT_CUDNN.  Then this file is empty, and programs with attention calls do not
// compile.
//
// cuDNN orders dims as batch, heads, sequence, size, whatever their order in memory; strides give
// that order.  Braid's order is batch, sequence, heads, size.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_CUDNNGRAPH_H
#define BRAID_CUDA_CUDNNGRAPH_H

#ifndef BRAID_RT_WITHOUT_CUDNN

#include "braid_rt.h"

#define NV_CUDNN_FRONTEND_USE_DYNAMIC_LOADING
#define CUDNN_FRONTEND_SKIP_JSON_LIB // graphs are never written as JSON; saves half of the compile time
#include <cudnn_frontend.h>

namespace braid {

// Tensors of a graph; a run passes their addresses by these numbers.
enum CudnnTensor : int64_t { kQ = 1, kK, kV, kO, kLse, kDout, kDq, kDk, kDv };

// First cuDNN version with a serial order of sums, on sm_90.
inline constexpr size_t kFirstWithSerialOrder = 92500;

// Must be called before a graph with a serial order is built.  The frontend chooses that order if
// its environment allows no memory for scores.
void allowNoScores();

// Fills a graph with attention or its gradient; does not call the library yet.
void fillGraph(cudnn_frontend::graph::Graph &graph, const br_attention_desc &desc);

} // namespace braid
#endif // BRAID_RT_WITHOUT_CUDNN
#endif // BRAID_CUDA_CUDNNGRAPH_H
