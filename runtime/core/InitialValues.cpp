//===- InitialValues.cpp - what tensors hold before the first step --------===//

#include "core/InitialValues.h"

#include "core/Mesh.h"
#include "core/NumberTypes.h"
#include "core/Philox.h"
#include "core/TensorPart.h"
#include "cpu/Threads.h"

#include <cmath>
#include <cstring>
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

// All bytes are written, by all threads: padding, gaps and tensors of zeros.
static void clear(std::byte *base, uint64_t bytes, int threads) {
  parallelRanges(threads, static_cast<int64_t>(bytes),
                 [&](int, int64_t begin, int64_t end) {
                   std::memset(base + begin, 0, end - begin);
                 });
}

void braid::initialize(const br_model &model, std::byte *arena, uint64_t seed,
                       int threads, int rank) {
  for (int32_t t = 0; t < model.n_tensors; ++t) {
    const br_tensor &tensor = model.tensors[t];
    std::byte *base = arena + tensor.offset;
    clear(base, tensor.bytes, threads);
    // Of a sum, the first term is all.
    if (tensor.init == BR_INIT_ZEROS ||
        placeInGroup(model, tensor.partial, rank).index > 0)
      continue;
    const TensorPart part = partOf(model, tensor, rank),
                     logical =
                         wholeTensor({tensor.shape, tensor.shape + tensor.rank});
    const int64_t size = elementSize(tensor.dtype);
    auto fill = [&](const Run &run) {
      for (int64_t i = 0; i < run.count; ++i)
        putNumber(tensor.dtype, base + (run.place + i * run.step) * size,
                  initialValue(tensor, seed,
                               run.otherPlace + i * run.otherStep));
    };
    parallelRanges(threads, part.places(),
                   [&](int, int64_t begin, int64_t end) {
                     forEachRun(part, begin, end, logical, fill);
                   });
  }
}
