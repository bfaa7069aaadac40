//===- ExportedWeights.h - parameters as safetensors ----------------------===//
//
// Files have a size limit and are written in place: each file has its full length from the start, and
// pieces of a checkpoint are copied to their places in any order.
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
  std::string name, saved; // the exported name, and the name in the checkpoint
  std::vector<int64_t> shape;
};

struct ExportedSize {
  uint64_t elements = 0, bytes = 0;
  size_t files = 0;
};

// Writes `folder`/model.safetensors, or several files and an index if one file would exceed `fileBytes`
// bytes. Converts floats to `dtype`. Calls `check` before each tensor; `check` throws to stop the export.
ExportedSize exportWeights(const SavedTensors &saved, const std::vector<ExportedTensor> &tensors, br_dtype dtype,
                           uint64_t fileBytes, const std::string &folder, const std::function<void()> &check);

} // namespace braid
#endif // BRAID_TRAIN_EXPORTEDWEIGHTS_H
