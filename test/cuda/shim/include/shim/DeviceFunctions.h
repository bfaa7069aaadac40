//===- DeviceFunctions.h - what the hardware does for a thread ------------===//
//
// Mathematics of CUDA that C++ lacks, and the synchronization points of threads. Kernels call the latter through
// cuda/Access.h, which passes the place of the call.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_SHIM_DEVICEFUNCTIONS_H
#define BRAID_SHIM_DEVICEFUNCTIONS_H

#include "shim/Types.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <source_location>

inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline float __expf(float x) { return std::exp(x); }
inline float __logf(float x) { return std::log(x); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline int __float2int_rz(float x) {
  return x != x ? 0 : x >= 0x1p31f ? INT32_MAX : x <= -0x1p31f ? INT32_MIN : static_cast<int>(x);
}
inline long long __float2ll_rz(float x) { // the instruction returns the least number for NaN
  return x >= 0x1p63f ? INT64_MAX : x > -0x1p63f ? static_cast<long long>(x) : INT64_MIN;
}
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fsub_rn(float x, float y) { return x - y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __fsqrt_rn(float x) { return std::sqrt(x); }
inline float __fmaf_rn(float x, float y, float z) { return std::fma(x, y, z); }
inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline unsigned __umulhi(unsigned x, unsigned y) { return unsigned(uint64_t(x) * y >> 32); }
inline int __popc(unsigned x) { return std::popcount(x); }
inline int __clz(int x) { return std::countl_zero(unsigned(x)); }
inline int __ffs(int x) { return x ? std::countr_zero(unsigned(x)) + 1 : 0; }

namespace shim {
using Site = std::source_location;

void blockBarrier(const Site &site);
void groupBarrier(unsigned mask, const Site &site);
// Sets `to` to the `from` of the thread in lane `lane`.
void shuffle(unsigned mask, int lane, const void *from, void *to, size_t bytes, const Site &site);
int ownLane();
} // namespace shim

inline void __syncthreads(const shim::Site &site = shim::Site::current()) { shim::blockBarrier(site); }
inline void __syncwarp(unsigned mask = 0xffffffffu, const shim::Site &site = shim::Site::current()) {
  shim::groupBarrier(mask, site);
}
template <class T>
inline T __shfl_sync(unsigned mask, T v, int lane, int width = 32, const shim::Site &site = shim::Site::current()) {
  int first = shim::ownLane() & ~(width - 1);
  T result;
  shim::shuffle(mask, first + (lane & (width - 1)), &v, &result, sizeof(T), site);
  return result;
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T v, int laneMask, int = 32, const shim::Site &site = shim::Site::current()) {
  T result;
  shim::shuffle(mask, shim::ownLane() ^ laneMask, &v, &result, sizeof(T), site);
  return result;
}

#endif // BRAID_SHIM_DEVICEFUNCTIONS_H
