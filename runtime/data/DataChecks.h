//===- DataChecks.h - whether a model can take the numbers of its data ----===//
//
// Indices and token ids are checked as they are read, since a model makes garbage of a
// wrong one and goes on; those of smaller files also before the first step, so that a
// bad file is refused at once.  Floats may be anything, but a loss that is not finite
// asks whether they were.
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

// How much of a file is read before the first step: seconds at most.
inline constexpr int64_t elementsCheckedAtStart = 256 << 20;

// Throws Error that names the first of `rows` rows, which begin with row `first` of the
// file's tensor, with a number that the model cannot index with.
void checkIndices(const SafetensorsFile &file, const br_io &io, int64_t first, int64_t rows, const std::byte *data);
// The same of the first elementsCheckedAtStart elements of the file's tensor.
void checkIndices(const SafetensorsFile &file, const br_io &io);

// "tensor 'x' of 'FILE' holds nan in row 3"; empty if the numbers of the row are finite.
std::string nonFiniteRow(const SafetensorsFile &file, const br_io &io, int64_t row);

} // namespace braid
#endif // BRAID_DATA_DATACHECKS_H
