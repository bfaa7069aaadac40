//===- NumberTypes.h - the element types of tensors
//-------------------------===//
//
// Sizes and names of br_dtype, and the 16-bit floats, which no C++20 type
// names.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CORE_NUMBERTYPES_H
#define BRAID_CORE_NUMBERTYPES_H

#include "braid_rt.h"

#include <bit>
#include <cmath>
#include <cstdint>

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
    return 1;
  }
  return 0;
}

// The name that safetensors gives it.
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
  }
  return "?";
}

inline float fromBFloat16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

inline uint16_t toBFloat16(float x) { // ties to even
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

} // namespace braid
#endif // BRAID_CORE_NUMBERTYPES_H
