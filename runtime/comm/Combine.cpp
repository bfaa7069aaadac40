//===- Combine.cpp - reduce the operands of ranks -------------------------===//
//
// Each block fits the first-level cache. It is accumulated over all sources and then written, so every
// operand is read once and the result is written once: the minimum of memory traffic.
//
//===----------------------------------------------------------------------===//

#include "comm/Combine.h"

#include "base/NumberTypes.h"

#include <algorithm>
#include <type_traits>

using namespace braid;

namespace {

constexpr int64_t blockElements = 1024;

// Conversion between the stored type and the type for arithmetic.
template <class T> struct Plain {
  using Stored = T;
  using Value = T;
  static T load(T x) { return x; }
  static T store(T x) { return x; }
};
struct BFloat16 {
  using Stored = uint16_t;
  using Value = float;
  static float load(uint16_t x) { return fromBFloat16(x); }
  static uint16_t store(float x) { return toBFloat16(x); }
};

struct Sum {
  template <class T> static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) // signed overflow is undefined
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
    else
      return a + b;
  }
};
struct Max {
  template <class T> static T apply(T a, T b) { return a > b || a != a ? a : b; }
};
struct Min {
  template <class T> static T apply(T a, T b) { return a < b || a != a ? a : b; }
};

template <class Type, class Op>
void combineAs(std::span<const void *const> sources, typename Type::Value divisor, void *out, int64_t count) {
  using Stored = typename Type::Stored;
  using Value = typename Type::Value;
  Value sums[blockElements];
  for (int64_t begin = 0; begin < count; begin += blockElements) {
    int64_t size = std::min(blockElements, count - begin);
    const Stored *first = static_cast<const Stored *>(sources[0]) + begin;
    for (int64_t i = 0; i < size; ++i)
      sums[i] = Type::load(first[i]);
    for (const void *source : sources.subspan(1)) {
      const Stored *next = static_cast<const Stored *>(source) + begin;
      for (int64_t i = 0; i < size; ++i)
        sums[i] = Op::template apply<Value>(sums[i], Type::load(next[i]));
    }
    if (divisor != Value(1))
      for (int64_t i = 0; i < size; ++i)
        sums[i] /= divisor;
    Stored *to = static_cast<Stored *>(out) + begin;
    for (int64_t i = 0; i < size; ++i)
      to[i] = Type::store(sums[i]);
  }
}

template <class Type>
void combineWith(br_reduction reduction, std::span<const void *const> sources, void *out, int64_t count) {
  using Value = typename Type::Value;
  switch (reduction) {
  case BR_SUM:
    return combineAs<Type, Sum>(sources, Value(1), out, count);
  case BR_MEAN:
    return combineAs<Type, Sum>(sources, static_cast<Value>(sources.size()), out, count);
  case BR_MAX:
    return combineAs<Type, Max>(sources, Value(1), out, count);
  case BR_MIN:
    return combineAs<Type, Min>(sources, Value(1), out, count);
  }
}

} // namespace

void braid::combine(br_dtype dtype, br_reduction reduction, std::span<const void *const> sources, void *out,
                    int64_t count) {
  switch (dtype) {
  case BR_F64:
    return combineWith<Plain<double>>(reduction, sources, out, count);
  case BR_F32:
    return combineWith<Plain<float>>(reduction, sources, out, count);
  case BR_BF16:
    return combineWith<BFloat16>(reduction, sources, out, count);
  case BR_I32:
    return combineWith<Plain<int32_t>>(reduction, sources, out, count);
  case BR_I64:
    return combineWith<Plain<int64_t>>(reduction, sources, out, count);
  case BR_I1:
    return combineWith<Plain<uint8_t>>(reduction, sources, out, count);
  case BR_I8:
    return combineWith<Plain<int8_t>>(reduction, sources, out, count);
  }
}
