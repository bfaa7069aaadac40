//===- MeasureRates.cpp - how fast this machine could be ------------------===//

#include "cpu/MeasureRates.h"

#include "base/Clock.h"
#include "cpu/Matmul.h"
#include "host/Threads.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

using namespace braid;

// The fastest of several, behind one that makes things ready.
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

// Between places that no cache holds, a part for each thread.
static double measureCopies(int threads) {
  constexpr int64_t bytes = int64_t{64} << 20;
  std::vector<char> from(bytes, 1), to(bytes, 2);
  const double seconds = fastestOf([&] {
    parallelRanges(threads, bytes,
                   [&](int, int64_t begin, int64_t end) { std::memcpy(&to[begin], &from[begin], end - begin); });
  });
  return 2 * static_cast<double>(bytes) / seconds;
}

// In the layout that libraries like best: of both operands the rows lie along k.
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
  br_model model{};
  model.matmuls = &matmul, model.n_matmuls = 1, model.arena_bytes = arena.size();
  MatmulTable table(model, threads, arena.data());
  std::byte *a = arena.data() + workspace, *b = a + m * k * size, *c = b + k * n * size;
  return 2.0 * m * n * k / fastestOf([&] { table.run(0, a, b, c, nullptr); });
}

MachineRates braid::measureRates(int threads, bool withHalf) {
  return {measureMatmuls(threads, BR_F32), withHalf ? measureMatmuls(threads, BR_BF16) : 0, measureCopies(threads)};
}
