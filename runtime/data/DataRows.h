//===- DataRows.h - rows of files for a model's inputs --------------------===//
//
// Frameworks write indices as i64 and images as u8. Integers of a file are converted to the model's type; a
// number that does not convert exactly is an error.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DATA_DATAROWS_H
#define BRAID_DATA_DATAROWS_H

#include "base/Safetensors.h"
#include "braid_rt.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace braid {

// Returns the number of elements in a row of an input.
int64_t elementsOfRow(const br_io &io);

// Whether numbers of a safetensors type can be read as the model's type.
bool canRead(std::string_view from, br_dtype as);

// Reads rows of the tensor with the input's name, in the input's type. Throws an Error that names the row
// and the first number that this type cannot hold.
void readRows(const SafetensorsFile &file, const br_io &io, int64_t first, int64_t rows, std::byte *out);

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
#endif // BRAID_DATA_DATAROWS_H
