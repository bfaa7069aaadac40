//===- AttentionTest.cpp - calls of attention beside what is published ----===//

#include "lib/Cost/Attention.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace braid;

namespace {

const GpuInfo &gpuOf(llvm::StringRef arch) { return *lookupTarget("cuda", arch)->gpu; }

AttentionWork work(bool isBackward, bool isCausal, int64_t positions, int64_t headSize, double heads = 128) {
  double pairs = heads * positions * positions / (isCausal ? 2 : 1);
  return {isBackward, isCausal, positions, headSize, 2.0 * (isBackward ? 5 : 2) * headSize * pairs, 2 * pairs};
}

double milliseconds(const GpuInfo &gpu, AttentionWork work, exec::SumOrder order = exec::SumOrder::Any) {
  work.order = order;
  AttentionSeconds seconds = attentionSeconds(gpu, work);
  return 1e3 * (seconds.matrix + seconds.scratch);
}

/// Batch 2 and 64 heads of 128 on an H200, cuDNN 9.27 (NVIDIA/cudnn-frontend, llama3.1/h200 of 2026-09-28), any and
/// fixed order.
struct Published {
  bool isCausal;
  int64_t positions;
  double any, fixed;
};
const Published h200[] = {
    {true, 2048, 0.856, 0.936},    {false, 2048, 1.323, 1.501},    {true, 4096, 2.779, 3.178},
    {false, 4096, 4.768, 5.609},   {true, 8192, 10.448, 11.864},   {false, 8192, 19.572, 22.494},
    {true, 16384, 40.803, 48.440}, {false, 16384, 80.092, 92.700},
};

TEST(Attention, takesWhatIsPublished) {
  GpuInfo gpu = gpuOf("sm_90");
  gpu.bytesPerSecond = 4.8e12;
  for (const Published &row : h200) {
    AttentionWork backward = work(/*isBackward=*/true, row.isCausal, row.positions, 128);
    EXPECT_NEAR(milliseconds(gpu, backward), row.any, 0.02 * row.any) << row.positions;
    EXPECT_NEAR(milliseconds(gpu, backward, exec::SumOrder::Fixed), row.fixed, 0.04 * row.fixed) << row.positions;
  }
}

/// Figures 5 and 6 of FlashAttention-3: 288 and 348 TFLOP/s of cuDNN at 1,024 positions, heads of 64.
TEST(Attention, takesTheRatesOfFigures) {
  AttentionWork forward = work(false, true, 1024, 64), backward = work(true, false, 1024, 64);
  EXPECT_NEAR(forward.flops / milliseconds(gpuOf("sm_90"), forward) * 1e3, 288e12, 1e12);
  EXPECT_NEAR(backward.flops / milliseconds(gpuOf("sm_90"), backward) * 1e3, 348e12, 1e12);
}

TEST(Attention, interpolatesLengthsAndHeadSizes) {
  auto rate = [](int64_t positions, int64_t headSize) {
    AttentionWork forward = work(false, true, positions, headSize);
    return forward.flops / milliseconds(gpuOf("sm_90"), forward);
  };
  EXPECT_GT(rate(1536, 64), rate(1024, 64));
  EXPECT_LT(rate(1536, 64), rate(2048, 64));
  EXPECT_GT(rate(1024, 96), rate(1024, 64));
  EXPECT_LT(rate(1024, 96), rate(1024, 128));
  EXPECT_EQ(rate(1024, 32), rate(1024, 64));
  EXPECT_EQ(rate(1 << 17, 64), rate(16384, 64));
  EXPECT_LT(rate(64, 64), rate(512, 64));
}

/// A card between two published ones reaches the same share of its own data sheet.
TEST(Attention, scalesByTheDataSheet) {
  AttentionWork forward = work(false, true, 4096, 128);
  double a100 = milliseconds(gpuOf("sm_80"), forward), l40s = milliseconds(gpuOf("sm_89"), forward);
  EXPECT_NEAR(a100 / l40s, 366.5 / 312, 1e-6);
}

/// If the library needs no scores for a fixed order, the order needs no scratch memory.
TEST(Attention, fixedOrderWithoutScores) {
  AttentionWork backward = work(true, true, 4096, 128);
  backward.order = exec::SumOrder::Fixed;
  EXPECT_EQ(attentionSeconds(gpuOf("sm_100"), backward).scratch, 0);
  EXPECT_GT(attentionSeconds(gpuOf("sm_90"), backward).scratch, 0);
  EXPECT_GT(milliseconds(gpuOf("sm_100"), backward, exec::SumOrder::Fixed), milliseconds(gpuOf("sm_100"), backward));
}

} // namespace
