//===- NumberTypes.h - the element types of tensors -----------------------===//
//
// Sizes and names of br_dtype, and conversions of 16-bit floats, for which C++20 has no types.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_BASE_NUMBERTYPES_H
#define BRAID_BASE_NUMBERTYPES_H

#include "braid_rt.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>

namespace braid {

// Name in messages, name in safetensors files, and bytes of each type.
struct NumberType {
  const char *name, *inFiles;
  int64_t bytes;
};
inline constexpr NumberType numberTypes[] = {{"f64", "F64", 8}, {"f32", "F32", 4}, {"bf16", "BF16", 2},
                                             {"i32", "I32", 4}, {"i64", "I64", 8}, {"i1", "BOOL", 1},
                                             {"i8", "I8", 1}};
static_assert(std::size(numberTypes) == BR_I8 + 1);

inline const char *nameOf(br_dtype type) { return numberTypes[type].name; }
inline const char *typeName(br_dtype type) { return numberTypes[type].inFiles; }
inline int64_t elementSize(br_dtype type) { return numberTypes[type].bytes; }

inline float fromBFloat16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

inline uint16_t toBFloat16(float x) { // rounds ties to even
  uint32_t u = std::bit_cast<uint32_t>(x);
  if (x != x)
    return static_cast<uint16_t>((u >> 16) | 0x40u);
  return static_cast<uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}

inline float fromFloat16(uint16_t bits) {
  int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  float magnitude;
  if (exponent == 31)
    magnitude = fraction ? NAN : INFINITY;
  else if (exponent == 0)
    magnitude = std::ldexp(static_cast<float>(fraction), -24);
  else
    magnitude = std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

// Convert an element to a number, and back: rounds to floats, truncates to integers.
inline double numberAt(br_dtype type, const std::byte *at) {
  auto get = [&](auto value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  switch (type) {
  case BR_F64:
    return get(double());
  case BR_F32:
    return get(float());
  case BR_BF16:
    return fromBFloat16(get(uint16_t()));
  case BR_I32:
    return get(int32_t());
  case BR_I64:
    return static_cast<double>(get(int64_t()));
  case BR_I1:
    return get(uint8_t()) != 0;
  case BR_I8:
    return get(int8_t());
  }
  return 0;
}
inline void putNumber(br_dtype type, std::byte *at, double x) {
  auto put = [&](auto value) { std::memcpy(at, &value, sizeof value); };
  switch (type) {
  case BR_F64:
    return put(x);
  case BR_F32:
    return put(static_cast<float>(x));
  case BR_BF16:
    return put(toBFloat16(static_cast<float>(x)));
  case BR_I32:
    return put(static_cast<int32_t>(x));
  case BR_I64:
    return put(static_cast<int64_t>(x));
  case BR_I1:
    return put(static_cast<uint8_t>(x != 0));
  case BR_I8:
    return put(static_cast<int8_t>(x));
  }
}

} // namespace braid
#endif // BRAID_BASE_NUMBERTYPES_H
