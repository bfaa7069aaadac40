//===- MatmulTest.cpp - br_matmul against plain loops
//-------------------------===//

#include "AllocationCounter.h"
#include "cpu/CpuContext.h"
#include "core/Error.h"
#include "core/NumberTypes.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace braid;

namespace {

constexpr uint64_t workspace = 8 << 20;

int64_t loopCount(int32_t n, const int64_t *size) {
  int64_t count = 1;
  for (int32_t i = 0; i < n; ++i)
    count *= size[i];
  return count;
}

int64_t offsetOf(int64_t index, int32_t n, const int64_t *size,
                 const int64_t *stride) {
  int64_t offset = 0;
  for (int32_t i = n - 1; i >= 0; --i) {
    offset += index % size[i] * stride[i];
    index /= size[i];
  }
  return offset;
}

double activation(br_epilogue epilogue, double x) {
  switch (epilogue) {
  case BR_EPILOGUE_NONE:
    return x;
  case BR_EPILOGUE_GELU_TANH:
    return 0.5 * x *
           (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  case BR_EPILOGUE_GELU_ERF:
    return 0.5 * x * (1 + std::erf(x / std::sqrt(2)));
  case BR_EPILOGUE_SILU:
    return x / (1 + std::exp(-x));
  case BR_EPILOGUE_GELU_TANH_GRAD: // refused
    break;
  }
  return 0;
}

void naive(const br_matmul_desc &d, const std::vector<float> &a,
           const std::vector<float> &b, std::vector<float> &c,
           const std::vector<float> &bias) {
  for (int64_t item = 0; item < loopCount(d.n_batch, d.batch); ++item)
    for (int64_t i = 0; i < d.m; ++i)
      for (int64_t j = 0; j < d.n; ++j) {
        double sum = d.has_bias ? bias[j] : 0;
        for (int64_t o = 0; o < loopCount(d.n_outer, d.outer); ++o)
          for (int64_t p = 0; p < d.k; ++p)
            sum += double(a[offsetOf(item, d.n_batch, d.batch, d.a_batch) +
                            offsetOf(o, d.n_outer, d.outer, d.a_outer) +
                            i * d.a_m + p * d.a_k]) *
                   b[offsetOf(item, d.n_batch, d.batch, d.b_batch) +
                     offsetOf(o, d.n_outer, d.outer, d.b_outer) + p * d.b_k +
                     j * d.b_n];
        float &out = c[offsetOf(item, d.n_batch, d.batch, d.c_batch) +
                       i * d.c_m + j * d.c_n];
        out = static_cast<float>(activation(d.epilogue, sum) +
                                 (d.accumulate ? out : 0));
      }
}

// A problem in random memory, checked as a whole: also what lies between rows.
struct Problem {
  br_matmul_desc d{};
  int64_t sizeA = 0, sizeB = 0, sizeC = 0;

  // Dense matrices side by side; a transposed one has its other stride 1, and a
  // padded one gaps between its rows.
  Problem(int64_t m, int64_t n, int64_t k, bool ta, bool tb, bool tc,
          int64_t pad = 0) {
    d.m = m, d.n = n, d.k = k;
    d.a_type = d.b_type = d.c_type = d.bias_type = BR_F32;
    d.workspace_bytes = workspace;
    sizeA = matrix(m, k, ta, pad, d.a_m, d.a_k);
    sizeB = matrix(k, n, tb, pad, d.b_k, d.b_n);
    sizeC = matrix(m, n, tc, pad, d.c_m, d.c_n);
  }
  static int64_t matrix(int64_t rows, int64_t columns, bool transposed,
                        int64_t pad, int64_t &byRow, int64_t &byColumn) {
    byRow = transposed ? 1 : columns + pad;
    byColumn = transposed ? rows + pad : 1;
    return transposed ? columns * byColumn : rows * byRow;
  }
  Problem &batch(int64_t n, bool broadcastB = false) {
    int32_t i = d.n_batch++;
    d.batch[i] = n;
    d.a_batch[i] = sizeA, d.b_batch[i] = broadcastB ? 0 : sizeB,
    d.c_batch[i] = sizeC;
    sizeA *= n, sizeB *= broadcastB ? 1 : n, sizeC *= n;
    return *this;
  }
  Problem &outer(int64_t n) {
    int32_t i = d.n_outer++;
    d.outer[i] = n;
    d.a_outer[i] = sizeA, d.b_outer[i] = sizeB;
    sizeA *= n, sizeB *= n;
    return *this;
  }
  Problem &with(bool bias, bool accumulate, br_epilogue epilogue) {
    d.has_bias = bias, d.accumulate = accumulate, d.epilogue = epilogue;
    return *this;
  }

  br_model model() const {
    br_model m{};
    m.arena_bytes = d.workspace_offset + d.workspace_bytes;
    m.matmuls = &d;
    m.n_matmuls = 1;
    return m;
  }
  std::vector<float> random(int64_t n, unsigned seed) const {
    std::mt19937 engine(seed);
    std::normal_distribution<float> normal;
    std::vector<float> v(n);
    for (float &x : v)
      x = normal(engine);
    return v;
  }
  std::vector<float> run(int threads) const {
    br_model m = model();
    CpuContext context(m, threads);
    std::vector<float> c = random(sizeC, 3);
    br_matmul(&context, 0, random(sizeA, 1).data(), random(sizeB, 2).data(),
              c.data(), d.has_bias ? random(d.n, 4).data() : nullptr);
    return c;
  }
  std::string describe(int threads) const {
    br_model m = model();
    return CpuContext(m, threads).products().describe(0);
  }
  void check(int threads) const {
    std::vector<float> expected = random(sizeC, 3), got = run(threads);
    naive(d, random(sizeA, 1), random(sizeB, 2), expected, random(d.n, 4));
    double scale = std::sqrt(double(d.k) * loopCount(d.n_outer, d.outer)) + 2;
    for (int64_t i = 0; i < sizeC; ++i)
      ASSERT_NEAR(got[i], expected[i], 2e-6 * scale)
          << i << ": " << d.m << " x " << d.n << " x " << d.k << ", "
          << describe(threads);
  }
};

TEST(Matmul, everyLayout) {
  for (int bits = 0; bits < 8; ++bits)
    for (int64_t pad : {0, 5})
      for (bool accumulate : {false, true})
        for (int threads : {1, 2})
          Problem(37, 29, 41, bits & 1, bits & 2, bits & 4, pad)
              .with(false, accumulate, BR_EPILOGUE_NONE)
              .check(threads);
}

TEST(Matmul, biasAndEpilogues) {
  for (br_epilogue e : {BR_EPILOGUE_NONE, BR_EPILOGUE_GELU_TANH,
                        BR_EPILOGUE_GELU_ERF, BR_EPILOGUE_SILU})
    for (bool bias : {false, true})
      for (bool accumulate : {false, true})
        for (bool transposed : {false, true})
          Problem(33, 48, 20, false, true, transposed)
              .with(bias, accumulate, e)
              .check(2);
}

TEST(Matmul, degenerateSizes) {
  for (int64_t m : {1, 3})
    for (int64_t n : {1, 3})
      for (int64_t k : {1, 3})
        for (int bits = 0; bits < 8; ++bits)
          for (int64_t pad : {0, 2})
            Problem(m, n, k, bits & 1, bits & 2, bits & 4, pad)
                .with(true, bits & 1, BR_EPILOGUE_NONE)
                .check(2);
}

TEST(Matmul, batches) {
  for (int threads : {1, 2, 3})
    for (bool broadcast : {false, true}) {
      Problem(16, 24, 8, false, true, false).batch(5, broadcast).check(threads);
      Problem(16, 24, 8, true, false, false, 3)
          .batch(3)
          .batch(4, broadcast)
          .check(threads);
      Problem(16, 24, 8, false, false, true)
          .batch(7)
          .with(true, true, BR_EPILOGUE_NONE)
          .check(threads);
    }
}

TEST(Matmul, outerLoopsAddUp) {
  for (bool accumulate : {false, true})
    for (int64_t n : {1, 2, 4})
      Problem(20, 16, 12, false, true, false)
          .outer(n)
          .with(true, accumulate, BR_EPILOGUE_NONE)
          .check(2);
  Problem(20, 16, 12, true, false, false).outer(3).outer(2).batch(3).check(2);
  Problem(20, 16, 12, true, false, false)
      .outer(3)
      .with(true, false, BR_EPILOGUE_GELU_TANH)
      .check(2);
}

TEST(Matmul, refusesAnEpilogueThatCannotBeRight) {
  Problem p(20, 16, 12, false, false, false);
  p.outer(3).with(false, true, BR_EPILOGUE_SILU);
  EXPECT_THROW(p.run(1), Error);
}

TEST(Matmul, refusesEpiloguesOfTraining) {
  Problem kept(20, 16, 12, false, false, false), gradient = kept;
  kept.with(false, false, BR_EPILOGUE_GELU_TANH).d.has_aux = 1;
  EXPECT_THROW(kept.run(1), Error);
  EXPECT_THROW(gradient.with(false, false, BR_EPILOGUE_GELU_TANH_GRAD).run(1), Error);
}

TEST(Matmul, refusesOtherTypesAndTellsWhich) {
  Problem p(4, 4, 4, false, false, false);
  p.d.b_type = BR_F64;
  try {
    p.run(1);
    FAIL();
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("matmul 0 (4 x 4 x 4)"),
              std::string::npos);
  }
}

TEST(Matmul, bf16WhereTheProcessorHasIt) {
  Problem p(32, 32, 32, false, true, false);
  p.d.a_type = p.d.b_type = BR_BF16;
  std::vector<uint16_t> a(p.sizeA), b(p.sizeB);
  std::vector<float> fa = p.random(p.sizeA, 1), fb = p.random(p.sizeB, 2);
  for (size_t i = 0; i < a.size(); ++i)
    fa[i] = fromBFloat16(a[i] = toBFloat16(fa[i]));
  for (size_t i = 0; i < b.size(); ++i)
    fb[i] = fromBFloat16(b[i] = toBFloat16(fb[i]));
  br_model model = p.model();
  try {
    CpuContext context(model, 2);
    std::vector<float> c(p.sizeC), expected(p.sizeC);
    br_matmul(&context, 0, a.data(), b.data(), c.data(), nullptr);
    naive(p.d, fa, fb, expected, {});
    for (int64_t i = 0; i < p.sizeC; ++i)
      ASSERT_NEAR(c[i], expected[i], 1e-4);
  } catch (const Error &error) {
    GTEST_SKIP() << error.what();
  }
}

TEST(Matmul, sameBitsInEveryRun) {
  for (int threads : {1, 2, 3}) {
    Problem big = Problem(130, 200, 300, true, false, false)
                      .with(false, true, BR_EPILOGUE_NONE);
    Problem many = Problem(32, 32, 16, false, true, false).batch(12);
    EXPECT_EQ(big.run(threads), big.run(threads));
    EXPECT_EQ(many.run(threads), many.run(threads));
  }
}

TEST(Matmul, cutsIntoStripsWhenTheTeamsScratchDoesNotFit) {
  Problem p(200, 64, 96, true, false, false);
  std::string roomy = p.describe(4);
  if (roomy.find("brg") == std::string::npos)
    GTEST_SKIP() << "oneDNN needs no scratch memory here: " << roomy;
  EXPECT_EQ(roomy.rfind("team", 0), 0u) << roomy;
  p.d.workspace_bytes = 0;
  for (uint64_t bytes = 64 << 10; bytes < workspace; bytes *= 2) {
    p.d.workspace_bytes = bytes;
    if (p.describe(4).rfind("strips", 0) == 0) {
      p.check(4);
      return;
    }
  }
  GTEST_SKIP() << "no workspace size asks for strips here";
}

TEST(Matmul, runsWithoutWorkspaceOrSaysWhatItNeeds) {
  Problem p(64, 64, 64, false, true, false);
  p.d.workspace_bytes = 0;
  try {
    p.check(2);
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("bytes of workspace"),
              std::string::npos);
  }
}

TEST(Matmul, allocatesNothingToSpeakOf) {
  Problem single = Problem(64, 96, 128, false, true, false)
                       .with(true, false, BR_EPILOGUE_GELU_TANH);
  Problem many = Problem(32, 32, 16, false, true, false).batch(12);
  Problem heads = Problem(64, 48, 32, false, true, false, 32)
                      .batch(8); // parts of wider matrices
  for (const Problem &p : {single, many, heads}) {
    br_model model = p.model();
    CpuContext context(model, 2);
    if (!test::canCountAllocations() ||
        context.products().describe(0).find("gemm") != std::string::npos)
      GTEST_SKIP() << context.products().describe(0);
    std::vector<float> a(p.sizeA), b(p.sizeB), c(p.sizeC), bias(p.d.n);
    br_matmul(&context, 0, a.data(), b.data(), c.data(), bias.data());
    test::startCountingAllocations();
    for (int i = 0; i < 3; ++i)
      br_matmul(&context, 0, a.data(), b.data(), c.data(), bias.data());
    EXPECT_EQ(test::stopCountingAllocations(), 0u)
        << context.products().describe(0);
  }
}

TEST(Matmul, workspaceOutsideTheArenaIsRefused) {
  Problem p(4, 4, 4, false, false, false);
  br_model model = p.model();
  model.arena_bytes -= 1;
  EXPECT_THROW(CpuContext(model, 1), Error);
}

} // namespace
