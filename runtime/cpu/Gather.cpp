//===- Gather.cpp - rows by index -----------------------------------------===//
//
// Embedding lookup and its gradient. The scatter is split by columns, so a single thread adds to each
// element of the result, in the order of the ids: the bits do not depend on the number of threads. An id
// outside the table reads as zeros and adds nothing; the data loader has already refused such tokens.
//
//===----------------------------------------------------------------------===//

#include "base/NumberTypes.h"
#include "core/Context.h"
#include "host/Threads.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace braid;

namespace {

void addTo(float *out, const float *update, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    out[i] += update[i];
}
void addTo(double *out, const double *update, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    out[i] += update[i];
}
void addTo(uint16_t *out, const uint16_t *update, int64_t n) { // bf16
  for (int64_t i = 0; i < n; ++i)
    out[i] = toBFloat16(fromBFloat16(out[i]) + fromBFloat16(update[i]));
}

template <class T>
void scatterAdd(int threads, int64_t n, int64_t rows, int64_t width, const int32_t *ids, const T *updates,
                bool accumulate, T *out) {
  // Each thread gets whole cache lines, so that no two threads write to the same line.
  constexpr int64_t line = 64 / sizeof(T);
  int64_t lines = (width + line - 1) / line;
  parallelRanges(threads, lines, [&](int, int64_t begin, int64_t end) {
    int64_t first = begin * line, last = end * line < width ? end * line : width;
    if (!accumulate)
      for (int64_t r = 0; r < rows; ++r)
        std::memset(out + r * width + first, 0, (last - first) * sizeof(T));
    for (int64_t i = 0; i < n; ++i)
      if (ids[i] >= 0 && ids[i] < rows)
        addTo(out + ids[i] * width + first, updates + i * width + first, last - first);
  });
}

} // namespace

void br_gather(br_context *ctx, br_dtype type, int64_t n, int64_t rows, int64_t width, const void *table,
               const int32_t *ids, void *out) {
  int64_t row = width * elementSize(type);
  const char *from = static_cast<const char *>(table);
  char *to = static_cast<char *>(out);
  parallelRanges(ctx->threads, n, [&](int, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (ids[i] >= 0 && ids[i] < rows)
        std::memcpy(to + i * row, from + ids[i] * row, row);
      else
        std::memset(to + i * row, 0, row);
    }
  });
}

void br_scatter_add(br_context *ctx, br_dtype type, int64_t n, int64_t rows, int64_t width, const int32_t *ids,
                    const void *updates, int32_t accumulate, void *out) {
  auto run = [&](auto *typed) {
    using T = std::remove_pointer_t<decltype(typed)>;
    scatterAdd(ctx->threads, n, rows, width, ids, static_cast<const T *>(updates), accumulate != 0, typed);
  };
  switch (type) {
  case BR_F32:
    return run(static_cast<float *>(out));
  case BR_F64:
    return run(static_cast<double *>(out));
  case BR_BF16:
    return run(static_cast<uint16_t *>(out));
  default:
    // Generated code fixes the type; only a broken compiler asks for this type.
    std::fprintf(stderr, "braid: scatter_add of an integer type\n");
    std::abort();
  }
}
