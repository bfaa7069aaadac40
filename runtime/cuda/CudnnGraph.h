//===- CudnnGraph.h - a call of attention as a graph of cuDNN -------------===//
//
// cuDNN's frontend is header files of a Python package (nvidia-cudnn-frontend), and needs
// those of cuDNN and NVRTC.  Where one is missing CMake says so and defines
// BRAID_RT_WITHOUT_CUDNN: there is nothing here then, and programs with calls of
// attention do not compile.
//
// Conventions: cuDNN names dims batch, heads, sequence, size in this order whatever lies
// beside what in memory, which strides say.  Ours are batch, sequence, heads, size.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_CUDNNGRAPH_H
#define BRAID_CUDA_CUDNNGRAPH_H

#ifndef BRAID_RT_WITHOUT_CUDNN

#include "braid_rt.h"

#define NV_CUDNN_FRONTEND_USE_DYNAMIC_LOADING
#define CUDNN_FRONTEND_SKIP_JSON_LIB // graphs are never written; half of the compile time
#include <cudnn_frontend.h>

namespace braid {

// The tensors of a graph, by which a run says where they are.
enum CudnnTensor : int64_t { kQ = 1, kK, kV, kO, kLse, kDout, kDq, kDk, kDv };

// The first cuDNN with a serial order of sums, on sm_90.
inline constexpr size_t kFirstWithSerialOrder = 92500;

// To be called before a graph with a serial order is built: the frontend takes that order
// where its environment allows no memory for scores.
void allowNoScores();

// Makes a graph that of attention, or of its gradient; nothing is asked of the library yet.
void fillGraph(cudnn_frontend::graph::Graph &graph, const br_attention_desc &desc);

} // namespace braid
#endif // BRAID_RT_WITHOUT_CUDNN
#endif // BRAID_CUDA_CUDNNGRAPH_H
