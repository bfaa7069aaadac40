//===- Blocks.cpp - copies between a tensor and blocks of it ---------------===//

#include "cpu/Blocks.h"

#include "core/Context.h"
#include "cpu/Threads.h"

#include <algorithm>
#include <cstring>

using namespace braid;

namespace {

// What a thread takes at once: long enough to be worth a copy, short enough to
// share out a few long rows.
constexpr int64_t unitElements = 16384;

// Calls f(begin, end) for ranges of `count` units of about unitElements each.
template <class F> void inUnits(br_context *ctx, int64_t count, const F &f) {
  if (count <= 1)
    return f(0, count);
  parallelRanges(ctx->threads, count, [&](int, int64_t begin, int64_t end) { f(begin, end); });
}

template <class T> void copyLanes(const T *from, int64_t fromStride, T *to, int64_t toStride, int64_t n) {
  if (fromStride == 1 && toStride == 1) {
    std::memcpy(to, from, n * sizeof(T));
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    to[i * toStride] = from[i * fromStride];
}

template <class T> void copyElements(br_context *ctx, const BlockCopy &copy, const T *from, T *to) {
  const int32_t inner = copy.loops - 1;
  const int64_t lanes = copy.size[inner], parts = (lanes + unitElements - 1) / unitElements;
  int64_t rows = 1;
  for (int32_t i = 0; i < inner; ++i)
    rows *= copy.size[i];
  auto copyPart = [&](int64_t row, int64_t part) {
    int64_t fromAt = 0, toAt = 0;
    for (int32_t i = inner - 1; i >= 0; --i) {
      fromAt += row % copy.size[i] * copy.from[i];
      toAt += row % copy.size[i] * copy.to[i];
      row /= copy.size[i];
    }
    int64_t begin = part * unitElements, n = std::min(lanes - begin, unitElements);
    copyLanes(from + fromAt + begin * copy.from[inner], copy.from[inner], to + toAt + begin * copy.to[inner],
              copy.to[inner], n);
  };
  // Short rows go together.
  const int64_t together = std::max<int64_t>(1, unitElements / std::max<int64_t>(lanes, 1));
  inUnits(ctx, (rows * parts + together - 1) / together, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin * together; i < std::min(end * together, rows * parts); ++i)
      copyPart(i / parts, i % parts);
  });
}

// Bytes [0, bytes) of `part` to `to`, or back.
void copyBytes(br_context *ctx, const std::byte *from, std::byte *to, int64_t bytes) {
  const BlockCopy copy = {1, 1, {bytes}, {1}, {1}};
  copyElements(ctx, copy, from, to);
}

// How much of range `number` there is.
int64_t lengthOf(int64_t bytes, int64_t number, int64_t range) {
  return std::clamp<int64_t>(bytes - number * range, 0, range);
}

} // namespace

void braid::copy_block(br_context *ctx, const BlockCopy &copy, const void *from, int64_t fromElement, void *to,
                       int64_t toElement) {
  auto run = [&](auto element) {
    using T = decltype(element);
    copyElements(ctx, copy, static_cast<const T *>(from) + fromElement, static_cast<T *>(to) + toElement);
  };
  switch (copy.bytes) {
  case 1:
    return run(uint8_t{});
  case 2:
    return run(uint16_t{});
  case 4:
    return run(uint32_t{});
  default:
    return run(uint64_t{});
  }
}

void braid::take_range(br_context *ctx, const void *whole, int64_t bytes, int64_t number, int64_t range, void *out) {
  int64_t length = lengthOf(bytes, number, range);
  std::byte *to = static_cast<std::byte *>(out);
  copyBytes(ctx, static_cast<const std::byte *>(whole) + number * range, to, length);
  std::memset(to + length, 0, range - length);
}

void braid::put_range(br_context *ctx, const void *part, int64_t number, int64_t range, void *whole, int64_t bytes) {
  copyBytes(ctx, static_cast<const std::byte *>(part), static_cast<std::byte *>(whole) + number * range,
            lengthOf(bytes, number, range));
}
