//===- DataRows.h - file rows in an input's type --------------------------===//
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
#include <string_view>

namespace braid {

// Returns the number of elements in a row of an input.
int64_t elementsOfRow(const br_io &io);

// Whether numbers of a safetensors type can be read as the model's type.
bool canRead(std::string_view from, br_dtype as);

// Reads rows of the tensor with the input's name, in the input's type. Throws an Error that names the row
// and the first number that this type cannot hold.
void readRows(const SafetensorsFile &file, const br_io &io, int64_t first, int64_t rows, std::byte *out);

} // namespace braid
#endif // BRAID_DATA_DATAROWS_H
