// Precedes llm.c's sources under CUDA 13, whose cudaMemAdvise takes a location instead of a device number.
#include <cuda_runtime.h>

#if CUDART_VERSION >= 13000
static inline cudaError_t cudaMemAdvise(const void *place, size_t bytes, cudaMemoryAdvise advice, int device) {
  cudaMemLocation location = {};
  location.type = device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = device < 0 ? 0 : device;
  return cudaMemAdvise(place, bytes, advice, location);
}
#endif
