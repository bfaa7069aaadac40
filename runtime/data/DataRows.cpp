//===- DataRows.cpp - file rows in an input's type ------------------------===//

#include "data/DataRows.h"

#include "base/Error.h"
#include "base/NumberTypes.h"

#include <utility>
#include <vector>

using namespace braid;

int64_t braid::elementsOfRow(const br_io &io) {
  int64_t elements = 1;
  for (int32_t dim = 1; dim < io.rank; ++dim)
    elements *= io.shape[dim];
  return elements;
}

namespace {

// Calls f(T()) with the C++ type of a safetensors integer type; returns false for other types.
template <class F> bool withInteger(std::string_view name, const F &f) {
  auto isThis = [&]<class T>(std::string_view other, T zero) {
    if (name == other)
      f(zero);
    return name == other;
  };
  return isThis("U8", uint8_t()) || isThis("I8", int8_t()) || isThis("I16", int16_t()) || isThis("U16", uint16_t()) ||
         isThis("I32", int32_t()) || isThis("U32", uint32_t()) || isThis("I64", int64_t());
}

// Writes a number if the type holds it exactly; returns whether it does.
template <class T> bool put(br_dtype dtype, T number, std::byte *out) {
  constexpr int64_t kExact = int64_t{1} << 53; // exact in f64, the type in between
  if ((dtype == BR_I32 && !std::in_range<int32_t>(number)) || (dtype == BR_I8 && !std::in_range<int8_t>(number)) ||
      std::cmp_greater(number, kExact) || std::cmp_less(number, -kExact))
    return false;
  putNumber(dtype, out, static_cast<double>(number));
  return numberAt(dtype, out) == static_cast<double>(number);
}

} // namespace

bool braid::canRead(std::string_view from, br_dtype as) {
  return from == typeName(as) || (as != BR_I1 && withInteger(from, [](auto) {}));
}

void braid::readRows(const SafetensorsFile &file, const br_io &io, int64_t first, int64_t rows, std::byte *out) {
  const TensorEntry &entry = *file.find(io.name);
  const int64_t elements = elementsOfRow(io), size = elementSize(io.dtype);
  if (entry.dtype == typeName(io.dtype))
    return file.read(entry, first * elements * size, out, rows * elements * size);
  withInteger(entry.dtype, [&]<class T>(T) {
    std::vector<T> numbers(rows * elements);
    file.read(entry, first * elements * sizeof(T), numbers.data(), numbers.size() * sizeof(T));
    for (size_t i = 0; i < numbers.size(); ++i)
      if (!put(io.dtype, numbers[i], out + i * size))
        fail("'", file.path(), "': tensor '", io.name, "' holds ", std::to_string(numbers[i]), " in row ",
             first + static_cast<int64_t>(i) / elements, ", which is ", entry.dtype, " and does not fit ",
             typeName(io.dtype), ", the type of the model's input");
  });
}
