//===- Pack.h - adjacent elements that a thread moves at once -------------===//
#ifndef BRAID_CUDA_PACK_H
#define BRAID_CUDA_PACK_H

#include <cstdint>

namespace braid {

template <class T, int N> struct alignas(sizeof(T) * N) Pack {
  T at[N];
};

// Whether all values (addresses or distances in bytes) are multiples of `bytes`.
template <class... Values> bool all_multiples(uint64_t bytes, Values... values) {
  return ((static_cast<uint64_t>(values) % bytes == 0) && ...);
}
inline uint64_t address_of(const void *pointer) { return reinterpret_cast<uint64_t>(pointer); }

} // namespace braid
#endif // BRAID_CUDA_PACK_H
