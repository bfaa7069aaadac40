//===- cuda_bf16.h - the 16-bit brain float -------------------------------===//
//
// The upper half of a float, rounded to nearest even.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_SHIM_CUDA_BF16_H
#define BRAID_SHIM_CUDA_BF16_H

#include "shim/Types.h"

#include <bit>

struct __nv_bfloat16_raw {
  unsigned short x;
};

struct __nv_bfloat16 {
  uint16_t bits;

  __nv_bfloat16() = default;
  __nv_bfloat16(const __nv_bfloat16_raw &raw) : bits(raw.x) {}
  __nv_bfloat16(float x) {
    uint32_t u = std::bit_cast<uint32_t>(x);
    bits = (u & 0x7fffffffu) > 0x7f800000u ? 0x7fff : uint16_t((u + 0x7fffu + ((u >> 16) & 1)) >> 16);
  }
  operator float() const { return std::bit_cast<float>(uint32_t(bits) << 16); }
  operator __nv_bfloat16_raw() const { return {bits}; }
};
typedef __nv_bfloat16 nv_bfloat16;

struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
};
typedef __nv_bfloat162 nv_bfloat162;

inline float __bfloat162float(__nv_bfloat16 x) { return float(x); }
inline __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
inline __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {__nv_bfloat16(x), __nv_bfloat16(y)}; }
inline __nv_bfloat162 __float22bfloat162_rn(float2 v) { return __floats2bfloat162_rn(v.x, v.y); }
inline float2 __bfloat1622float2(__nv_bfloat162 v) { return {float(v.x), float(v.y)}; }
inline float __low2float(__nv_bfloat162 v) { return float(v.x); }
inline float __high2float(__nv_bfloat162 v) { return float(v.y); }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.bits; }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) { return __nv_bfloat16_raw{x}; }

#endif // BRAID_SHIM_CUDA_BF16_H
