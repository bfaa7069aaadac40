//===- Attention.h - attention over cuDNN ---------------------------------===//
//
// Every br_attention_desc gets its graph and plan once, at start: the engine that the
// library's heuristic puts first among those whose scratch memory fits the descriptor's
// workspace in the arena.  Running one puts work on a stream and allocates nothing on
// the device, so a CUDA graph can hold it.
//
// The descriptor says in which order gradients are summed, and so whether they are the same
// bits in every run.
//
// cuDNN is loaded when a model has such calls, by name; programs are not linked with it.
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
  // The device is current.  Throws Error where the library is missing, or does not take a
  // descriptor; a model without such calls needs none.
  CudaAttentionTable(const br_model &model, std::byte *arena, cudaStream_t stream);
  ~CudaAttentionTable();

  // Puts call `index` on the stream.
  br_status run(int32_t index, const AttentionPlaces &places);
  // Why the last run failed.
  const char *error() const { return message.c_str(); }

private:
  struct Library;
  std::unique_ptr<Library> library; // null: the model has no such calls
  std::string message;
};

} // namespace braid
#endif // BRAID_CUDA_ATTENTION_H
