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

namespace braid {

inline int64_t elementSize(br_dtype type) {
  switch (type) {
  case BR_F64:
  case BR_I64:
    return 8;
  case BR_F32:
  case BR_I32:
    return 4;
  case BR_BF16:
    return 2;
  case BR_I1:
  case BR_I8:
    return 1;
  }
  return 0;
}

// Name in messages: "bf16".
inline const char *nameOf(br_dtype type) {
  constexpr const char *names[] = {"f64", "f32", "bf16", "i32", "i64", "i1", "i8"};
  static_assert(sizeof names / sizeof *names == BR_I8 + 1);
  return names[type];
}

// Name in safetensors files.
inline const char *typeName(br_dtype type) {
  switch (type) {
  case BR_F64:
    return "F64";
  case BR_F32:
    return "F32";
  case BR_BF16:
    return "BF16";
  case BR_I32:
    return "I32";
  case BR_I64:
    return "I64";
  case BR_I1:
    return "BOOL";
  case BR_I8:
    return "I8";
  }
  return "?";
}

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
