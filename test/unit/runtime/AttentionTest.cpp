//===- AttentionTest.cpp - attention by tiles on the CPU ------------------===//
//
// Compares tiles of every size with f64. With BRAID_LONG_TESTS, all combinations of remainder, offset, window and size
// of documents; otherwise all pairs of them.
//
//===----------------------------------------------------------------------===//

#include "cpu/kernel.h"

#include "../AttentionCases.h"
#include "cpu/Attention.h"
#include "cpu/CpuContext.h"

#include <cstdlib>

using namespace braid;
using namespace braid::test;

namespace {

// Products and sums in f32 have errors of a few units of 6e-8 in scores up to 15; bf16 rounds weights and results to
// 2^-9.
template <class T> constexpr double kTolerance = sizeof(T) == 4 ? 2e-5 : 1e-2;

// Fills the stack that a call is about to use with NaN, to find tiles that read values which they have not written.
[[gnu::noinline]] void dirtyStack() {
  uint32_t memory[1 << 18];
  for (uint32_t &word : memory)
    word = 0x7fc00000;
  asm volatile("" : : "r"(memory) : "memory");
}

template <class T, int64_t D, int64_t Tile, bool Capped> void checkOnCpu(AttentionCase testCase) {
  testCase.softcap = Capped ? 2.5 : 0;
  AttentionProblem<T> p(testCase, D);
  br_model model{};
  CpuContext context(model, 1);
  std::vector<float> scratch(p.batch * p.keyHeads * 2 * round_up(testCase.keys, Tile) * round_up(D, W), NAN);
  p.desc.workspace_bytes = scratch.size() * sizeof(float);
  BlockPlaces places{p.documents.empty() ? nullptr : p.documents.data()};
  if (testCase.atRunTime)
    places.query_start = &p.queryStart, places.key_start = &p.keyStart;
  dirtyStack();
  attention<T, D, Tile, Capped>(&context, p.desc, p.q.at.data(), p.k.at.data(), p.v.at.data(), p.o.at.data(),
                                p.lse.data(), places);
  dirtyStack();
  attention_grad<T, D, Tile, Capped>(&context, p.desc, p.q.at.data(), p.k.at.data(), p.v.at.data(), p.o.at.data(),
                                     p.lse.data(), p.dout.at.data(), p.dq.at.data(), p.dk.at.data(), p.dv.at.data(),
                                     scratch.data(), places);
  p.check(kTolerance<T>);
}

template <class T, int64_t D, int64_t Tile, bool Capped = false> void checkAll() {
  const AttentionChoices choices(Tile);
  auto check = [](const AttentionCase &testCase) {
    if (!::testing::Test::HasFailure())
      checkOnCpu<T, D, Tile, Capped>(testCase);
  };
  std::getenv("BRAID_LONG_TESTS") ? choices.each(check) : choices.eachPair(check);
}

TEST(Attention, tilesOf16) { checkAll<float, 8, 16>(); }
TEST(Attention, tilesOf32) { checkAll<float, 5, 32>(); }
TEST(Attention, tilesOf48) { checkAll<float, 8, 48>(); }
TEST(Attention, tilesOf64) { checkAll<float, 20, 64, true>(); }
TEST(Attention, tilesOf80) { checkAll<float, 8, 80>(); }
TEST(Attention, tilesOf96) { checkAll<float, 4, 96>(); }
TEST(Attention, tilesOf16InBf16) { checkAll<bf16, 8, 16>(); }
TEST(Attention, tilesOf32InBf16) { checkAll<bf16, 7, 32, true>(); }
TEST(Attention, tilesOf96InBf16) { checkAll<bf16, 8, 96>(); }

} // namespace
