//===- LaneTypes.h - vectors of W elements --------------------------------===//
//
// Vectors with the extensions of GCC and clang. W is the maximum that the target supports: 16, 8 or 4
// floats; -DBRAID_LANES=N overrides it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CPU_LANETYPES_H
#define BRAID_CPU_LANETYPES_H

#include <cstdint>
#include <cstring>

// Names that generated code uses; <cmath> would take longer to parse than all of these headers.
#ifndef INFINITY
#define INFINITY (__builtin_inff())
#endif
#ifndef NAN
#define NAN (__builtin_nanf(""))
#endif

#ifndef BRAID_LANES
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define BRAID_LANES 16
#elif defined(__AVX2__)
#define BRAID_LANES 8
#else
#define BRAID_LANES 4
#endif
#endif

// Register width for the functions of Instructions.h.
#if BRAID_LANES == 16 && defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define BRAID_ISA_AVX512 1
#elif BRAID_LANES == 8 && defined(__AVX2__)
#define BRAID_ISA_AVX2 1
#endif

namespace braid {

constexpr int W = BRAID_LANES;
static_assert(W == 4 || W == 8 || W == 16);

// In memory, vectors have the alignment of their elements: every access uses ld and st.
typedef float V __attribute__((vector_size(W * 4)));
typedef int32_t VI __attribute__((vector_size(W * 4)));
typedef uint32_t VU __attribute__((vector_size(W * 4)));
typedef uint16_t VH __attribute__((vector_size(W * 2)));
typedef int8_t VB __attribute__((vector_size(W)));
typedef VI VM; // 0 or -1 in each lane

struct bf16 {
  uint16_t bits;
};

template <class To, class From> inline To bit_cast(const From &from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

} // namespace braid
#endif // BRAID_CPU_LANETYPES_H
