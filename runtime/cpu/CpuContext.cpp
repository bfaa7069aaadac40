//===- CpuContext.cpp - a model on the host -------------------------------===//

#include "cpu/CpuContext.h"

#include "base/Clock.h"
#include "base/Error.h"
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

//===----------------------------------------------------------------------===//
// Peak rates of this machine
//===----------------------------------------------------------------------===//

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

// Measures the rates of `threads` threads, in about half a second and 130 to 260 MiB of memory, depending
// on the last-level cache; measures bf16 only if `withHalf`.
static MachineRates measureRates(int threads, bool withHalf) {
  return {measureMatmuls(threads, BR_F32), withHalf ? measureMatmuls(threads, BR_BF16) : 0, measureCopies(threads)};
}

//===----------------------------------------------------------------------===//
// The context
//===----------------------------------------------------------------------===//

static bool hasBFloat16Matmuls(const br_model &model) {
  return std::any_of(model.matmuls, model.matmuls + model.n_matmuls,
                     [](const br_matmul_desc &d) { return d.a.type == BR_BF16; });
}

CpuContext::CpuContext(const br_model &model, int threads, const Rank &rank)
    : br_context(model, threads, rank), memory(model.arena_bytes, threads), matmuls(model, threads, memory.data()),
      collectives(withCollectives(), memory.data(), rank), measurement(Measurement::of(model, rank, collectives)) {
  if (model.n_attentions > 0)
    fail("model '", model.name,
         "' calls a library for attention, but the cpu target has none; compile it with --attention=decompose");
}

void CpuContext::read(uint64_t offset, void *to, uint64_t bytes) { std::memcpy(to, memory.data() + offset, bytes); }
void CpuContext::write(uint64_t offset, const void *from, uint64_t bytes) {
  std::memcpy(memory.data() + offset, from, bytes);
}
void CpuContext::zero(uint64_t offset, uint64_t bytes) { parallelZero(memory.data() + offset, bytes, threads); }

void CpuContext::run(const br_program &program) {
  if (measurement)
    measurement->enter(program);
  if (program.run(this) != BR_OK)
    throw RankError(collectives.error());
  if (measurement)
    measurement->leave();
}

// The number of threads belongs to the thread that starts them.
void CpuContext::enterThread() { setThreads(threads); }

void CpuContext::finish() {
  if (measurement)
    measurement->write([&] { return measureRates(threads, hasBFloat16Matmuls(model) && multipliesBFloat16()); });
}

br_status CpuContext::start(int32_t collective) {
  const int32_t now = collectiveOfMicrobatch(collective);
  const br_status status = collectives.start(now);
  if (measurement && status == BR_OK)
    measurement->started(collectives.ticketOf(now));
  return status;
}

void CpuContext::matmul(int32_t index, const void *a, const void *b, void *c, const void *bias, const void *) {
  matmuls.run(index, a, b, c, bias);
}

std::vector<std::string> CpuContext::warnings() const {
  std::vector<std::string> texts;
  if (hasBFloat16Matmuls(model) && !multipliesBFloat16Fast())
    // Measured on steps of the small GPT, on a processor with these instructions disabled.
    texts.push_back(concat("this processor has neither avx512_bf16 nor amx: expect a step in bf16 to take about ",
                           multipliesBFloat16() ? "four" : "forty",
                           " times as long as in f32; compile with --precision=f32 to be faster here"));
  for (int32_t i = 0; i < model.n_matmuls; ++i)
    if (matmuls.isSlow(i))
      texts.push_back(concat("matmul ", i, " (", model.matmuls[i].m, " x ", model.matmuls[i].n, " x ",
                             model.matmuls[i].k,
                             ") has a layout for which oneDNN has only reference loops; it will be slow"));
  return texts;
}

void br_use_cpu(void) {
  registerTarget("cpu", [](const br_model &model, int threads, const Rank &rank) -> std::unique_ptr<br_context> {
    return std::make_unique<CpuContext>(model, threads, rank);
  });
}
