//===- Moments.h - moments that were stored in another way ------*- C++ -*-===//
//
// A moment is stored in f32, in bf16 or in 8 bits: codes, and beside them, in the tensor
// NAME.scale, a scale for each block of neighbours (tg.quantize).  The compiler chooses blocks
// that no rank has a part of, and bf16 where there are none: so the same model on another mesh
// may store a moment otherwise.  Such a moment is read as numbers and stored again.
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

// Blocks of `size` neighbours along `dim` share a scale; a size of 0: the elements are numbers.
struct Blocks {
  int dim = 0;
  int64_t size = 0;
  bool operator==(const Blocks &) const = default;
};

// A moment of the model that the file stores otherwise.
struct ConvertedMoment {
  const br_tensor *moment, *scales; // null: it has none
  Blocks saved, own;
};

std::string scalesOf(std::string_view moment);
// None unless the file has the moment, in a type that moments have.
std::optional<Blocks> savedBlocks(const SavedTensors &saved, const std::string &moment);
std::vector<ConvertedMoment> findConvertedMoments(const SavedTensors &saved, const br_model &table);
// Fills this rank's part of the moment and of its scales.  Codes are rounded to nearest.
void convertMoment(const SavedTensors &saved, const Model &model, const ConvertedMoment &converted);

} // namespace braid
#endif // BRAID_CHECKPOINT_MOMENTS_H
