//===- DataChecks.h - check data against a model's inputs -----------------===//
//
// Indices and token ids are checked when they are read, because a model would silently compute garbage from
// a wrong one. Small files are also checked before the first step, so that a bad file is refused at once.
// Floats may have any value; they are checked only if the loss is not finite.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DATA_DATACHECKS_H
#define BRAID_DATA_DATACHECKS_H

#include "base/Safetensors.h"
#include "braid_rt.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace braid {

// Elements of a file to check before the first step; this takes at most seconds.
inline constexpr int64_t elementsCheckedAtStart = 256 << 20;

// Checks `rows` rows, which start at row `first` of the file's tensor. Throws an Error that names the first
// row with a number outside the valid index range.
void checkIndices(const SafetensorsFile &file, const br_io &io, int64_t first, int64_t rows, const std::byte *data);
// Same for the first elementsCheckedAtStart elements of the file's tensor.
void checkIndices(const SafetensorsFile &file, const br_io &io);

// Returns a text such as "tensor 'x' of 'FILE' holds nan in row 3"; empty if all numbers of the row are
// finite.
std::string nonFiniteRow(const SafetensorsFile &file, const br_io &io, int64_t row);

} // namespace braid
#endif // BRAID_DATA_DATACHECKS_H
