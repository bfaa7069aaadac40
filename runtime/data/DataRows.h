//===- DataRows.h - rows of a file in the type of an input ----------------===//
//
// Frameworks write indices as i64 and images as u8.  Integers of a file become whatever the model takes, each of
// them exactly or not at all.
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

// Elements of a row of what fills an input.
int64_t elementsOfRow(const br_io &io);

// Whether numbers of a safetensors type can be read as one of the model's.
bool canRead(std::string_view from, br_dtype as);

// Rows of the file's tensor of the input's name, in the input's type.  Throws Error that names the row and the first
// number that this type does not hold.
void readRows(const SafetensorsFile &file, const br_io &io, int64_t first, int64_t rows, std::byte *out);

} // namespace braid
#endif // BRAID_DATA_DATAROWS_H
