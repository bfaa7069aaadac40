//===- MeasureRates.cpp - peak rates of this machine ----------------------===//

#include "cpu/MeasureRates.h"

#include "base/Clock.h"
#include "cpu/Matmul.h"
#include "host/Threads.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <unistd.h>
#include <vector>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

using namespace braid;

// A cache line.
struct alignas(64) Block {
#ifdef __SSE2__
  __m128i lanes[4];
#else
  char bytes[64];
#endif
};

// Returns the seconds of the fastest of several runs, after one run to warm up.
static double fastestOf(const std::function<void()> &work) {
  constexpr int times = 6;
  double fastest = std::numeric_limits<double>::infinity();
  work();
  for (int i = 0; i < times; ++i) {
    const double begin = secondsNow();
    work();
    fastest = std::min(fastest, secondsNow() - begin);
  }
  return fastest;
}

// Copies with streamed stores, like kernels do for data that is not read soon. A normal store reads its
// cache line first; memcpy avoids this only above a size that depends on the machine.
static void copyStreamed(Block *to, const Block *from, int64_t blocks) {
#ifdef __SSE2__
  for (int64_t i = 0; i < blocks; ++i)
    for (size_t j = 0; j < std::size(to->lanes); ++j)
      _mm_stream_si128(&to[i].lanes[j], from[i].lanes[j]);
  _mm_sfence();
#else
  std::memcpy(to, from, blocks * sizeof(Block));
#endif
}

// Returns the bytes to copy: the size of the last-level cache, but at least 64 MiB, because a machine may
// have several such caches and the system reports only one. At most 128 MiB.
static int64_t bytesToCopy() {
  const int64_t cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return std::clamp<int64_t>(cache, int64_t{64} << 20, int64_t{128} << 20);
}

// Measures copies, in bytes per second read and written, between buffers larger than the caches, with a
// part for each thread.
static double measureCopies(int threads) {
  const int64_t blocks = bytesToCopy() / static_cast<int64_t>(sizeof(Block));
  const std::vector<Block> from(blocks);
  std::vector<Block> to(blocks);
  const auto secondsOf = [&](auto copy) {
    return fastestOf([&] {
      parallelRanges(threads, blocks,
                     [&](int, int64_t begin, int64_t end) { copy(&to[begin], &from[begin], end - begin); });
    });
  };
  const double seconds = std::min(secondsOf(copyStreamed), secondsOf([](Block *to, const Block *from, int64_t blocks) {
                                    std::memcpy(to, from, blocks * sizeof(Block));
                                  }));
  return 2.0 * blocks * sizeof(Block) / seconds;
}

// Measures matmuls in FLOP/s in the best layout for libraries: rows of both operands run along k.
// Multiplies bf16 as programs do.
static double measureMatmuls(int threads, br_dtype type) {
  constexpr int64_t m = 1024, n = 2048, k = 1024, workspace = 8 << 20;
  const int64_t size = type == BR_BF16 ? 2 : 4;
  std::vector<std::byte> arena(workspace + (m * k + k * n + m * n) * size);
  br_matmul_desc matmul{};
  matmul.m = m, matmul.n = n, matmul.k = k;
  matmul.a.type = matmul.b.type = matmul.c.type = type;
  matmul.a.row_stride = k, matmul.a.column_stride = 1;
  matmul.b.row_stride = 1, matmul.b.column_stride = k;
  matmul.c.row_stride = n, matmul.c.column_stride = 1;
  matmul.workspace_bytes = workspace;
  matmul.copy_b = type == BR_BF16;
  br_model model{};
  model.matmuls = &matmul, model.n_matmuls = 1, model.arena_bytes = arena.size();
  MatmulTable table(model, threads, arena.data());
  std::byte *a = arena.data() + workspace, *b = a + m * k * size, *c = b + k * n * size;
  return 2.0 * m * n * k / fastestOf([&] { table.run(0, a, b, c, nullptr); });
}

MachineRates braid::measureRates(int threads, bool withHalf) {
  return {measureMatmuls(threads, BR_F32), withHalf ? measureMatmuls(threads, BR_BF16) : 0, measureCopies(threads)};
}
