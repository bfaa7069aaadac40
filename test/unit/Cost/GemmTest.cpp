//===- GemmTest.cpp - the tables of GEMMs beside what they were made of ---===//

#include "lib/Cost/Cost.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>
#include <numeric>

using namespace mlir;
using namespace braid;

namespace {

struct Sample {
  unsigned arch;
  GemmType type;
  int64_t m, n, k;
  double microseconds;

  double predicted() const {
    const GpuInfo &gpu = *lookupTarget("cuda", "sm_" + std::to_string(arch))->gpu;
    return 1e6 * *gemmSeconds(gpu, type, {m, n, k});
  }
};

const Sample samples[] = {
#include "GemmSamples.inc"
};

double predicted(GemmType type, GemmSizes sizes, llvm::StringRef arch = "sm_90") {
  return *gemmSeconds(*lookupTarget("cuda", arch)->gpu, type, sizes);
}

/// Away from the points of the tables: half of all samples within 3 %, one in ten worse than 17 %, none by half.
TEST(Gemm, interpolatesTheModel) {
  std::vector<double> errors;
  for (const Sample &sample : samples)
    errors.push_back(std::abs(sample.predicted() / sample.microseconds - 1));
  llvm::sort(errors);
  EXPECT_GT(errors.size(), 700u);
  EXPECT_LT(errors[errors.size() / 2], 0.03);
  EXPECT_LT(errors[errors.size() * 9 / 10], 0.17);
  EXPECT_LT(errors.back(), 0.6);
}

/// Each GPU has a table of its own, which is neither too fast nor too slow overall.
TEST(Gemm, hasATableForEachGpu) {
  for (unsigned arch : {80, 86, 89, 90, 100, 120}) {
    double sum = 0, count = 0;
    for (const Sample &sample : samples)
      if (sample.arch == arch)
        sum += sample.predicted() / sample.microseconds, ++count;
    EXPECT_NEAR(sum / count, 1, 0.05) << arch;
  }
}

/// The GEMMs of a step of GPT-2 124M, 64 x 1024 tokens, on an H100: the model itself says 81.8 ms.
TEST(Gemm, addsUpToAStepOfGpt2) {
  int64_t tokens = 65536, h = 768, vocabulary = 50304;
  auto half = [&](int64_t m, int64_t n, int64_t k) { return predicted(GemmType::Half, {m, n, k}); };
  auto wide = [&](int64_t m, int64_t n, int64_t k) { return predicted(GemmType::HalfToFloat, {m, n, k}); };
  double layer = 2 * half(tokens, 4 * h, h) + 2 * half(tokens, h, 4 * h) + half(tokens, 3 * h, h) +
                 half(tokens, h, 3 * h) + 2 * half(tokens, h, h) + wide(h, 4 * h, tokens) + wide(4 * h, h, tokens) +
                 wide(3 * h, h, tokens) + wide(h, h, tokens);
  double head = half(tokens, vocabulary, h) + half(tokens, h, vocabulary) + wide(50257, h, tokens);
  EXPECT_NEAR(1e3 * (12 * layer + head), 81.8, 0.02 * 81.8);
}

/// Twice the size takes longer, or at most a tenth less, because a k that is split for few tiles may be split less
/// well.
TEST(Gemm, growsWithEachSize) {
  for (llvm::StringRef arch : {"sm_80", "sm_90", "sm_120"})
    for (GemmType type : {GemmType::Half, GemmType::HalfToFloat, GemmType::Float})
      for (int64_t size = 64; size < 1 << 18; size *= 2) {
        auto of = [&](int64_t m, int64_t n, int64_t k) { return predicted(type, {m, n, k}, arch); };
        EXPECT_GT(of(2 * size, 4096, 4096), 0.9 * of(size, 4096, 4096)) << size;
        EXPECT_GT(of(4096, 2 * size, 4096), 0.9 * of(4096, size, 4096)) << size;
        EXPECT_GT(of(4096, 4096, 2 * size), of(4096, 4096, size)) << size;
      }
}

/// Beyond the table a GEMM has the time per FLOP of the table's end; below the table it takes the time of one tile.
TEST(Gemm, goesOnBeyondTheTable) {
  double end = predicted(GemmType::Half, {1 << 18, 1 << 17, 65536});
  EXPECT_NEAR(predicted(GemmType::Half, {1 << 19, 1 << 17, 65536}) / end, 2, 0.05);
  EXPECT_NEAR(predicted(GemmType::Half, {1 << 18, 1 << 17, 1 << 17}) / end, 2, 0.05);
  EXPECT_EQ(predicted(GemmType::Half, {1, 1, 1}), predicted(GemmType::Half, {128, 128, 64}));
}

/// Independent products share waves: a batch takes less than as many calls.
TEST(Gemm, batchesFillWaves) {
  double one = predicted(GemmType::Half, {1024, 1024, 64}), all = predicted(GemmType::Half, {1024, 1024, 64, 768});
  EXPECT_LT(all, 0.2 * 768 * one);
  EXPECT_NEAR(all, 1077e-6, 0.05 * 1077e-6); // of the model, as a batch
}

class ContractionTest : public testing::Test {
protected:
  ContractionTest() { context.loadDialect<tg::TGDialect>(); }
  GemmSizes sizes(llvm::StringRef spec, llvm::ArrayRef<int64_t> lhs, llvm::ArrayRef<int64_t> rhs) {
    auto type = [&](llvm::ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, Float32Type::get(&context)); };
    return GemmSizes::of(tg::ContractionAttr::get(&context, spec), type(lhs), type(rhs));
  }
  MLIRContext context;
};

TEST_F(ContractionTest, sortsLetters) {
  auto expect = [](GemmSizes sizes, std::array<int64_t, 4> expected) {
    EXPECT_EQ((std::array{sizes.m, sizes.n, sizes.k, sizes.items}), expected);
  };
  expect(sizes("bsd,fd->bsf", {2, 4, 8}, {16, 8}), {8, 16, 8, 1});
  expect(sizes("bsd,bsf->fd", {2, 4, 8}, {2, 4, 16}), {8, 16, 8, 1});
  expect(sizes("bshd,bthd->bhst", {2, 5, 3, 8}, {2, 7, 3, 8}), {5, 7, 8, 6});
}

/// Given rates apply to GEMMs of every size, and to attention.
TEST(ComputeRates, givenRatesAreFlat) {
  const TargetInfo &target = *lookupTarget("cuda", "sm_90");
  ComputeRates rates = ComputeRates::of(target);
  rates.replace(/*flops=*/1e12, /*bytes=*/1e10);
  EXPECT_EQ(rates.productSeconds({1, 1, 1}, GemmType::Half), 2e-12);
  EXPECT_EQ(rates.productSeconds({1024, 1024, 1024}, GemmType::Float), 2.0 * (1 << 30) / 1e12);
  EXPECT_GT(ComputeRates::of(target).productSeconds({1, 1, 1}, GemmType::Half), 1e-6);
}

TEST(ComputeRates, cpusAreFlat) {
  ComputeRates rates = ComputeRates::of(*lookupTarget("cpu"));
  EXPECT_EQ(rates.productSeconds({1, 1, 1}, GemmType::Half), 2 / 200e9);
  EXPECT_EQ(rates.productSeconds({1, 1, 1}, GemmType::Float), 2 / 100e9);
}

} // namespace
