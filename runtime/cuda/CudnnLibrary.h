//===- CudnnLibrary.h - loads cuDNN ---------------------------------------===//
//
// cuDNN is loaded by name when a model calls it; programs are not linked with it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_CUDNNLIBRARY_H
#define BRAID_CUDA_CUDNNLIBRARY_H

namespace braid {

// Lets the frontend find the library's functions.  Throws Error where there is no library.
void loadCudnn();

} // namespace braid
#endif // BRAID_CUDA_CUDNNLIBRARY_H
