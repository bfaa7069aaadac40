//===- CudnnLibrary.h - loads cuDNN ---------------------------------------===//
//
// cuDNN is loaded by name when a model calls it; programs are not linked with it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_CUDNNLIBRARY_H
#define BRAID_CUDA_CUDNNLIBRARY_H

namespace braid {

// Loads cuDNN, so that the frontend finds its functions.  Throws Error if the library is missing.
void loadCudnn();

} // namespace braid
#endif // BRAID_CUDA_CUDNNLIBRARY_H
