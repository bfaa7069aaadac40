//===- Blocks.cpp - copies between a tensor and blocks of it --------------===//

#include "cpu/Blocks.h"

#include "core/Context.h"
#include "host/Threads.h"

#include <algorithm>
#include <cstring>
#include <numeric>

using namespace braid;

namespace {

// Elements that a thread copies at a time: enough to be worth the effort, and few enough to divide a few
// long rows among threads.
constexpr int64_t unitElements = 16384;

// Calls f(begin, end) for ranges of `count` units of about unitElements each.
template <class F> void inUnits(br_context *ctx, int64_t count, const F &f) {
  if (count <= 1)
    return f(0, count);
  parallelRanges(ctx->threads, count, [&](int, int64_t begin, int64_t end) { f(begin, end); });
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

struct Loop {
  int64_t size, from, to;
};

// The loops of a copy, in the order in which it writes memory. Without the innermost loops, each iteration
// of the remaining loops is a row.
struct Loops {
  int32_t count = 0;
  Loop loop[BR_MAX_RANK];

  void add(Loop added) {
    Loop *last = count ? &loop[count - 1] : nullptr;
    if (last && last->from == added.from * added.size && last->to == added.to * added.size)
      *last = {last->size * added.size, added.from, added.to};
    else
      loop[count++] = added;
  }
  Loop removeLoop(int32_t i) {
    Loop taken = loop[i];
    std::copy(loop + i + 1, loop + count--, loop + i);
    return taken;
  }
  int64_t rows() const {
    int64_t product = 1;
    for (int32_t i = 0; i < count; ++i)
      product *= loop[i].size;
    return product;
  }
};

// Returns the loops sorted by output stride: tables list dims in logical order, and the memory of a
// transposed tensor has another order.
Loops loopsOf(const BlockCopy &copy) {
  int32_t order[BR_MAX_RANK];
  std::iota(order, order + copy.loops, 0);
  std::stable_sort(order, order + copy.loops, [&](int32_t a, int32_t b) { return copy.to[a] > copy.to[b]; });
  Loops loops;
  for (int32_t i = 0; i < copy.loops; ++i)
    if (int32_t o = order[i]; copy.size[o] != 1)
      loops.add({copy.size[o], copy.from[o], copy.to[o]});
  return loops;
}

// Offsets of the start of a row; `next` moves to the next row.
class Row {
public:
  Row(const Loops &loops, int64_t number) : loops(loops) {
    for (int32_t i = loops.count - 1; i >= 0; --i) {
      index[i] = number % loops.loop[i].size;
      number /= loops.loop[i].size;
      from += index[i] * loops.loop[i].from;
      to += index[i] * loops.loop[i].to;
    }
  }
  void next() {
    for (int32_t i = loops.count - 1; i >= 0; --i) {
      const Loop &loop = loops.loop[i];
      from += loop.from, to += loop.to;
      if (++index[i] < loop.size)
        return;
      from -= loop.size * loop.from, to -= loop.size * loop.to;
      index[i] = 0;
    }
  }

  int64_t from = 0, to = 0;

private:
  const Loops &loops;
  int64_t index[BR_MAX_RANK];
};

//===----------------------------------------------------------------------===//
// Rows of lanes
//===----------------------------------------------------------------------===//

template <class T> void copyLanes(const Loop &lanes, const T *from, T *to, int64_t n) {
  if (lanes.from == 1 && lanes.to == 1) {
    std::memcpy(to, from, n * sizeof(T));
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    to[i * lanes.to] = from[i * lanes.from];
}

template <class T> void copyRows(br_context *ctx, const Loops &rows, const Loop &lanes, const T *from, T *to) {
  const int64_t parts = (lanes.size + unitElements - 1) / unitElements, count = rows.rows();
  if (parts > 1) // few long rows
    return inUnits(ctx, count * parts, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const Row row(rows, i / parts);
        const int64_t lane = i % parts * unitElements;
        copyLanes(lanes, from + row.from + lane * lanes.from, to + row.to + lane * lanes.to,
                  std::min(lanes.size - lane, unitElements));
      }
    });
  const int64_t rowsInUnit = std::max<int64_t>(1, unitElements / lanes.size);
  inUnits(ctx, (count + rowsInUnit - 1) / rowsInUnit, [&](int64_t begin, int64_t end) {
    Row row(rows, begin * rowsInUnit);
    for (int64_t i = begin * rowsInUnit; i < std::min(end * rowsInUnit, count); ++i, row.next())
      copyLanes(lanes, from + row.from, to + row.to, lanes.size);
  });
}

//===----------------------------------------------------------------------===//
// Tiles, for copies that read along one loop and write along another
//===----------------------------------------------------------------------===//

constexpr int64_t tileSide = 32;

// Copies a tile through a buffer, so that both memories are accessed by whole cache lines, even if their
// rows map to the same cache sets.
template <class T>
void copyTile(const T *from, int64_t fromRow, T *to, int64_t toRow, int64_t fromRows, int64_t toRows) {
  T tile[tileSide][tileSide];
  for (int64_t i = 0; i < fromRows; ++i)
    std::memcpy(tile[i], from + i * fromRow, toRows * sizeof(T));
  for (int64_t j = 0; j < toRows; ++j)
    for (int64_t i = 0; i < fromRows; ++i)
      to[j * toRow + i] = tile[i][j];
}

// `read` has stride one in the source, `written` in the destination.
template <class T>
void copyTiles(br_context *ctx, const Loops &rows, const Loop &read, const Loop &written, const T *from, T *to) {
  const int64_t readTiles = (read.size + tileSide - 1) / tileSide;
  const int64_t writtenTiles = (written.size + tileSide - 1) / tileSide;
  const int64_t perRow = readTiles * writtenTiles, count = rows.rows() * perRow;
  constexpr int64_t tilesInUnit = unitElements / (tileSide * tileSide);
  inUnits(ctx, (count + tilesInUnit - 1) / tilesInUnit, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin * tilesInUnit; i < std::min(end * tilesInUnit, count); ++i) {
      const Row row(rows, i / perRow);
      const int64_t r = i % perRow / writtenTiles * tileSide, w = i % writtenTiles * tileSide;
      copyTile(from + row.from + r + w * written.from, written.from, to + row.to + r * read.to + w, read.to,
               std::min(written.size - w, tileSide), std::min(read.size - r, tileSide));
    }
  });
}

template <class T> void copyElements(br_context *ctx, const BlockCopy &copy, const T *from, T *to) {
  Loops loops = loopsOf(copy);
  if (loops.count == 0)
    loops.add({1, 1, 1});
  if (loops.rows() == 0)
    return;
  const Loop written = loops.removeLoop(loops.count - 1);
  if (written.to == 1 && written.from != 1)
    for (int32_t i = 0; i < loops.count; ++i)
      if (loops.loop[i].from == 1) {
        const Loop read = loops.removeLoop(i);
        return copyTiles(ctx, loops, read, written, from, to);
      }
  copyRows(ctx, loops, written, from, to);
}

// Copies `bytes` bytes.
void copyBytes(br_context *ctx, const std::byte *from, std::byte *to, int64_t bytes) {
  const BlockCopy copy = {1, 1, {bytes}, {1}, {1}};
  copyElements(ctx, copy, from, to);
}

// Returns the bytes of range `number` that exist.
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
