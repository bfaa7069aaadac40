//===- Access.h - memory of kernels, every access checked -----------------===//
//
// Replaces runtime/cuda/Access.h: comes first in the include path, and declares the same names. A violation ends the
// process with a message.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_ACCESS_H
#define BRAID_CUDA_ACCESS_H

#include <cuda_runtime.h>

#include <cmath>
#include <type_traits>

namespace shim {
void checkLoad(const void *pointer, size_t bytes, size_t align);
void checkStore(void *pointer, size_t bytes, size_t align);
// Checks that an address, from which a load may follow, is in the device's memory.
void checkPrefetch(const void *pointer);
// Checks an access to an array of `total` bytes in shared memory.
void checkSharedLoad(const void *array, size_t total, ptrdiff_t offset, size_t bytes, const Site &site);
void checkSharedStore(void *array, size_t total, ptrdiff_t offset, size_t bytes, const Site &site);

// Allows the thread to access memory from here on: it has waited for the kernel in front.
void enterKernel();

// An access of 1, 2, 4, 8 or 16 bytes is one instruction, which requires this alignment.
template <class T> constexpr size_t accessAlign() {
  return sizeof(T) <= 16 && std::has_single_bit(sizeof(T)) ? sizeof(T) : alignof(T);
}
} // namespace shim

namespace braid {

template <class T> inline T load(const T *p) {
  static_assert(std::is_trivially_copyable_v<T>);
  shim::checkLoad(p, sizeof(T), shim::accessAlign<T>());
  T v;
  __builtin_memcpy(static_cast<void *>(&v), static_cast<const void *>(p), sizeof(T));
  return v;
}
template <class T> inline void store(T *p, std::type_identity_t<T> v) {
  static_assert(std::is_trivially_copyable_v<T>);
  shim::checkStore(p, sizeof(T), shim::accessAlign<T>());
  __builtin_memcpy(static_cast<void *>(p), static_cast<const void *>(&v), sizeof(T));
}

inline void enter_kernel() { shim::enterKernel(); }
inline void prefetch(const void *p) { shim::checkPrefetch(p); }

template <class T, int N> struct Shared {
  T *array;

  Shared(T (&array)[N]) : array(array) {}
  T get(int i, const shim::Site &site = shim::Site::current()) const {
    shim::checkSharedLoad(array, sizeof(T) * N, i * ptrdiff_t(sizeof(T)), sizeof(T), site);
    return array[i];
  }
  void put(int i, T v, const shim::Site &site = shim::Site::current()) const {
    shim::checkSharedStore(array, sizeof(T) * N, i * ptrdiff_t(sizeof(T)), sizeof(T), site);
    array[i] = v;
  }
};

inline void block_barrier(const shim::Site &site = shim::Site::current()) { shim::blockBarrier(site); }
inline void group_barrier(unsigned mask, const shim::Site &site = shim::Site::current()) {
  shim::groupBarrier(mask, site);
}
template <class T>
inline T shuffle_xor(unsigned mask, T v, int laneMask, const shim::Site &site = shim::Site::current()) {
  return __shfl_xor_sync(mask, v, laneMask, 32, site);
}

inline float exp2_approx(float x) { return std::exp2(x) < __FLT_MIN__ ? 0.0f : std::exp2(x); }
inline float max_nan(float a, float b) { return a > b || a != a ? a : b; }

} // namespace braid
#endif // BRAID_CUDA_ACCESS_H
