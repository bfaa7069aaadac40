//===- InitialValues.cpp - what tensors hold before the first step
//----------===//

#include "core/InitialValues.h"

#include "core/LogicalOrder.h"
#include "core/Philox.h"
#include "cpu/Threads.h"

#include <cmath>
#include <numbers>

using namespace braid;

double braid::initialValue(const br_tensor &tensor, uint64_t seed, int64_t i) {
  const double a = tensor.init_a, b = tensor.init_b;
  switch (tensor.init) {
  case BR_INIT_ZEROS:
    return 0;
  case BR_INIT_ONES:
    return 1;
  case BR_INIT_CONSTANT:
    return a;
  case BR_INIT_UNIFORM: {
    PhiloxWords w = philoxAt(i, 0, tensor.stream, seed);
    return a + (b - a) * ((w[0] >> 8) * 0x1p-24);
  }
  case BR_INIT_NORMAL: {
    PhiloxWords w = philoxAt(i, 0, tensor.stream, seed);
    double u = (w[0] + 1.0) * 0x1p-32, v = w[1] * 0x1p-32;
    return a +
           b * std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  }
  }
  return 0;
}

namespace {

void store(br_dtype type, std::byte *base, int64_t at, double x) {
  switch (type) {
  case BR_F64:
    reinterpret_cast<double *>(base)[at] = x;
    return;
  case BR_F32:
    reinterpret_cast<float *>(base)[at] = static_cast<float>(x);
    return;
  case BR_BF16:
    reinterpret_cast<uint16_t *>(base)[at] = toBFloat16(static_cast<float>(x));
    return;
  case BR_I32:
    reinterpret_cast<int32_t *>(base)[at] = static_cast<int32_t>(x);
    return;
  case BR_I64:
    reinterpret_cast<int64_t *>(base)[at] = static_cast<int64_t>(x);
    return;
  case BR_I1:
    reinterpret_cast<uint8_t *>(base)[at] = x != 0;
    return;
  }
}

} // namespace

void braid::initialize(const br_model &model, std::byte *arena, uint64_t seed,
                       int threads) {
  for (int32_t t = 0; t < model.n_tensors; ++t) {
    const br_tensor &tensor = model.tensors[t];
    std::byte *base = arena + tensor.offset;
    parallelRanges(
        threads, numElements(tensor), [&](int, int64_t begin, int64_t end) {
          forEachElement(tensor, begin, end, [&](int64_t i, int64_t stored) {
            store(tensor.dtype, base, stored, initialValue(tensor, seed, i));
          });
        });
  }
}
