//===- DataChecks.cpp - check data against a model's inputs ---------------===//
//
// Indices and token ids are checked when they are read, because a model would silently compute garbage from
// a wrong one. Small files are also checked before the first step, so that a bad file is refused at once.
// Floats may have any value; they are checked only if the loss is not finite.
//
//===----------------------------------------------------------------------===//

#include "base/Error.h"
#include "base/Format.h"
#include "base/NumberTypes.h"
#include "data/DataRows.h"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace braid;

namespace {

bool isInside(const br_io &io, int64_t x) { return x >= 0 && x < io.extent; }

[[noreturn]] void refuse(const SafetensorsFile &file, const br_io &io, int64_t row, int64_t x) {
  std::string ignored = isInside(io, io.ignored) ? "" : concat(", or ", io.ignored, " to be ignored");
  fail("'", file.path(), "': tensor '", io.name, "' holds ", x, " in row ", row,
       ", but the model takes it as an index from 0 to ", io.extent - 1, ignored, "; use data made for this model");
}

template <class T>
void checkAs(const SafetensorsFile &file, const br_io &io, int64_t first, int64_t rows, const std::byte *data) {
  const T *begin = reinterpret_cast<const T *>(data), *end = begin + rows * elementsOfRow(io);
  const T *bad = std::find_if(begin, end, [&](T x) { return !isInside(io, x) && x != io.ignored; });
  if (bad != end)
    refuse(file, io, first + (bad - begin) / elementsOfRow(io), *bad);
}

} // namespace

void braid::checkIndices(const SafetensorsFile &file, const br_io &io, int64_t first, int64_t rows,
                         const std::byte *data) {
  if (io.extent == 0)
    return;
  if (io.dtype == BR_I64)
    checkAs<int64_t>(file, io, first, rows, data);
  else
    checkAs<int32_t>(file, io, first, rows, data);
}

void braid::checkIndices(const SafetensorsFile &file, const br_io &io) {
  if (io.extent == 0)
    return;
  const TensorEntry &entry = *file.find(io.name);
  const int64_t elements = elementsOfRow(io), rowBytes = elements * elementSize(io.dtype);
  const int64_t end = std::min(io.rank == 0 ? 1 : entry.shape[0], elementsCheckedAtStart / elements + 1);
  const int64_t step = std::max<int64_t>(1, (1 << 20) / rowBytes);
  std::vector<std::byte> data(std::min(step, end) * rowBytes);
  for (int64_t row = 0; row < end; row += step) {
    int64_t rows = std::min(step, end - row);
    readRows(file, io, row, rows, data.data());
    checkIndices(file, io, row, rows, data.data());
  }
}

std::string braid::nonFiniteRow(const SafetensorsFile &file, const br_io &io, int64_t row) {
  if (io.dtype != BR_F32 && io.dtype != BR_F64 && io.dtype != BR_BF16)
    return "";
  const int64_t size = elementSize(io.dtype), bytes = elementsOfRow(io) * size;
  std::vector<std::byte> data(bytes);
  readRows(file, io, row, 1, data.data());
  for (int64_t at = 0; at < bytes; at += size)
    if (double x = numberAt(io.dtype, data.data() + at); !std::isfinite(x))
      return concat("tensor '", io.name, "' of '", file.path(), "' holds ", formatNonFinite(x), " in row ", row);
  return "";
}
