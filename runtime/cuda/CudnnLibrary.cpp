//===- CudnnLibrary.cpp - loads cuDNN -------------------------------------===//

#include "cuda/CudnnLibrary.h"

#include "base/Error.h"

#include <cstdlib>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

using namespace braid;

// The frontend looks up the library's functions through this handle.
namespace cudnn_frontend {
void *cudnn_dlhandle = nullptr;
}

void braid::loadCudnn() {
  static const std::string error = [] {
    // The frontend opens the CUDA runtime by name; name the version that this program uses.
    setenv("CUDNN_FRONTEND_CUDART_LIB_NAME", concat("libcudart.so.", CUDART_VERSION / 1000).c_str(), 0);
    cudnn_frontend::cudnn_dlhandle = dlopen("libcudnn.so.9", RTLD_NOW);
    const char *reason = cudnn_frontend::cudnn_dlhandle ? nullptr : dlerror();
    return std::string(reason ? reason : "");
  }();
  if (!error.empty())
    fail("the model calls attention of cuDNN, which cannot be loaded: ", error,
         "; install cuDNN 9 where the loader finds it, or compile the graph with --attention=decompose");
}
