//===- AttentionTest.cpp - attention by tiles on the device ---------------===//
//
// Compares blocks at the edges of tiles with f64, like the test of the CPU's tiles (runtime/AttentionTest.cpp): all
// pairs of remainder, offset, window and size of documents; with BRAID_LONG_TESTS all combinations.
//
//===----------------------------------------------------------------------===//

#include "cuda/AttentionTiles.h"

#include "../AttentionCases.h"
#include "Device.h"

#include <cstdlib>
#include <cuda_bf16.h>

using namespace braid;
using namespace braid::test;

namespace {

using Half = __nv_bfloat16;

// Products and sums in f32 have errors of a few units of 6e-8 in scores up to 15; results in bf16 are rounded to 2^-9.
template <class T> constexpr double kTolerance = sizeof(T) == 4 ? 2e-5 : 1e-2;

template <class T, int D, bool Capped> void checkOnDevice(AttentionCase testCase) {
  testCase.softcap = Capped ? 2.5 : 0;
  AttentionProblem<T> p(testCase, D);
  br_context context;
  OnDevice<T> q(p.q.at), k(p.k.at), v(p.v.at), dout(p.dout.at), o(p.o.at), dq(p.dq.at), dk(p.dk.at), dv(p.dv.at);
  OnDevice<float> lse(p.lse);
  OnDevice<int32_t> documents(p.documents), starts({p.queryStart, p.keyStart});
  attention_tiles::Places places;
  if (testCase.documents)
    places.documents = documents.data();
  if (testCase.atRunTime)
    places.query_start = starts.data(), places.key_start = starts.data() + 1;
  const Memory m(&context);
  attention<T, D, Capped>(m, p.desc, q.data(), k.data(), v.data(), o.data(), lse.data(), places);
  attention_grad<T, D, Capped>(m, p.desc, q.data(), k.data(), v.data(), o.data(), lse.data(), dout.data(), dq.data(),
                               dk.data(), dv.data(), places);
  p.o.at = o.read(), p.dq.at = dq.read(), p.dk.at = dk.read(), p.dv.at = dv.read(), p.lse = lse.read();
  EXPECT_EQ(context.error, "");
  p.check(kTolerance<T>);
}

template <class T, int D, bool Capped = false> void check(const AttentionCase &testCase) {
  if (!::testing::Test::HasFailure())
    checkOnDevice<T, D, Capped>(testCase);
}

constexpr int64_t kTile = attention_tiles::kTile, kSlice = attention_tiles::kSlice;

TEST(CudaAttention, edgesOfTiles) {
  if (std::getenv("BRAID_LONG_TESTS"))
    AttentionChoices::aroundEnds(kTile, kSlice).each(check<float, 8>);
  else
    AttentionChoices::ofEnds(kTile, kSlice).eachPair(check<float, 8>);
}

// The same code with other elements, heads of several slices and soft caps.
TEST(CudaAttention, edgesOfTilesOfOtherTypes) {
  if (!std::getenv("BRAID_LONG_TESTS"))
    GTEST_SKIP() << "BRAID_LONG_TESTS=1 runs it";
  AttentionChoices::ofEnds(kTile, kSlice).each(check<float, 20, true>);
  AttentionChoices::ofEnds(kTile, kSlice).each(check<Half, 8>);
}

} // namespace
