//===- Moments.h - moments that were stored in another way ------*- C++ -*-===//
//
// A moment is stored in f32, in bf16 or as 8-bit codes. Codes have a scale for each block of neighbours, in
// the tensor NAME.scale (tg.quantize). The compiler chooses blocks that no shard splits, or bf16 if there
// are none. So the same model may store a moment differently on another mesh. Such a moment is read as
// floats and stored again.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CHECKPOINT_MOMENTS_H
#define BRAID_CHECKPOINT_MOMENTS_H

#include "checkpoint/SavedTensors.h"
#include "core/Model.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace braid {

// Blocks of `size` neighbours along `dim` share a scale. Size 0: elements are floats, without scales.
struct Blocks {
  int dim = 0;
  int64_t size = 0;
  bool operator==(const Blocks &) const = default;
};

// A moment that the file stores in another form than the model.
struct ConvertedMoment {
  const br_tensor *moment, *scales; // null if the moment has no scales
  Blocks saved, own;
};

std::string scalesOf(std::string_view moment);
// Returns the blocks of a saved moment; nothing if the file lacks the moment or has it in another type.
std::optional<Blocks> savedBlocks(const SavedTensors &saved, const std::string &moment);
std::vector<ConvertedMoment> findConvertedMoments(const SavedTensors &saved, const br_model &table);
// Fills this rank's part of the moment and of its scales. Codes are rounded to nearest.
void convertMoment(const SavedTensors &saved, const Model &model, const ConvertedMoment &converted);

} // namespace braid
#endif // BRAID_CHECKPOINT_MOMENTS_H
