//===- Attention.h - calls of the attention library -----------------------===//
//
// Makes the plan of every br_attention_desc once, at start.  It takes the first
// engine in the order of the library's heuristic whose scratch memory fits the descriptor's
// workspace in the arena.  A call puts work on a stream and allocates no device memory, so a graph
// can hold it.
//
// The descriptor gives the order in which gradients are summed, and so whether every run gives the
// same bits.
//
// The vendor's folder defines these functions.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_GPU_ATTENTION_H
#define BRAID_GPU_ATTENTION_H

#include "base/AttentionPlaces.h"
#include "braid_rt.h"
#include "gpu/Streams.h"

#include <cstddef>
#include <memory>
#include <string>

namespace braid {

class AttentionTable {
public:
  // The rank's device must be current.  Throws Error if the library is missing or does not support
  // a descriptor.  A model without attention calls does not need the library.
  AttentionTable(const br_model &model, std::byte *arena, const GpuStream &stream);
  ~AttentionTable();

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
#endif // BRAID_GPU_ATTENTION_H
