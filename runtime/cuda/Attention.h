//===- Attention.h - attention with cuDNN ---------------------------------===//
//
// Builds the cuDNN graph and plan of every br_attention_desc once, at start.  It takes the first
// engine in the order of the library's heuristic whose scratch memory fits the descriptor's
// workspace in the arena.  A call puts work on a stream and allocates no device memory, so a CUDA
// graph can hold it.
//
// The descriptor gives the order in which gradients are summed, and so whether every run gives the
// same bits.
//
// cuDNN is loaded by name when a model has such calls; programs are not linked with it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_ATTENTION_H
#define BRAID_CUDA_ATTENTION_H

#include "base/AttentionPlaces.h"
#include "braid_rt.h"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <string>

namespace braid {

class CudaAttentionTable {
public:
  // The rank's device must be current.  Throws Error if the library is missing or does not support
  // a descriptor.  A model without attention calls does not need the library.
  CudaAttentionTable(const br_model &model, std::byte *arena, cudaStream_t stream);
  ~CudaAttentionTable();

  // Puts attention call `index` on the stream.
  br_status run(int32_t index, const AttentionPlaces &places);
  // The reason why the last run failed.
  const char *error() const { return message.c_str(); }

private:
  struct Library;
  std::unique_ptr<Library> library; // null if the model has no attention calls
  std::string message;
};

} // namespace braid
#endif // BRAID_CUDA_ATTENTION_H
