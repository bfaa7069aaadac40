//===- ExportedWeights.h - parameters as safetensors for other programs ---===//
//
// Files of a bounded size, written in place: each has its length from the start, and the
// pieces of a checkpoint go to where they belong in whatever order they are read.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TRAIN_EXPORTEDWEIGHTS_H
#define BRAID_TRAIN_EXPORTEDWEIGHTS_H

#include "checkpoint/SavedTensors.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace braid {

struct ExportedTensor {
  std::string name, saved; // as it is to be called, and as the checkpoint calls it
  std::vector<int64_t> shape;
};

struct ExportedSize {
  uint64_t elements = 0, bytes = 0;
  size_t files = 0;
};

// Writes `folder`/model.safetensors, or several files with an index where one would have more
// than `fileBytes`.  Floats are converted to `dtype`.  Calls `check` before each tensor, which
// throws to end it.
ExportedSize exportWeights(const SavedTensors &saved, const std::vector<ExportedTensor> &tensors, br_dtype dtype,
                           uint64_t fileBytes, const std::string &folder, const std::function<void()> &check);

} // namespace braid
#endif // BRAID_TRAIN_EXPORTEDWEIGHTS_H
