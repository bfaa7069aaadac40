// Stands before llm.c's sources where CUDA 13 compiles them: there cudaMemAdvise takes a
// location in place of a number of a device.
#include <cuda_runtime.h>

#if CUDART_VERSION >= 13000
static inline cudaError_t cudaMemAdvise(const void *place, size_t bytes, cudaMemoryAdvise advice, int device) {
  cudaMemLocation location = {};
  location.type = device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = device < 0 ? 0 : device;
  return cudaMemAdvise(place, bytes, advice, location);
}
#endif
