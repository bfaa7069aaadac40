//===- MatmulTest.cpp - br_matmul against plain loops ---------------------===//

#include "AllocationCounter.h"
#include "CallWorkspace.h"
#include "MatmulCases.h"
#include "base/Error.h"
#include "base/NumberTypes.h"
#include "cpu/CpuContext.h"

#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <optional>
#include <vector>

using namespace braid;
using namespace braid::test;

namespace {

constexpr uint64_t workspace = 8 << 20;

// Runs a matmul in an arena with only its workspace, on numbers that are rounded.
MatmulCase problem(int64_t m, int64_t n, int64_t k, bool transposedA, bool transposedB, bool transposedC,
                   int64_t pad = 0) {
  MatmulCase p(m, n, k, transposedA, transposedB, transposedC, pad);
  p.areWhole = false;
  p.d.workspace_bytes = workspace;
  return p;
}

br_model modelOf(const MatmulCase &p) {
  br_model m{};
  m.arena_bytes = p.d.workspace_offset + p.d.workspace_bytes;
  m.matmuls = &p.d;
  m.n_matmuls = 1;
  return m;
}

std::vector<float> run(const MatmulCase &p, int threads) {
  br_model m = modelOf(p);
  CpuContext context(m, threads);
  std::vector<float> c = p.c();
  br_matmul(&context, 0, p.a().data(), p.b().data(), c.data(), p.d.has_bias ? p.bias().data() : nullptr, nullptr);
  return c;
}

std::string describe(const MatmulCase &p, int threads) {
  br_model m = modelOf(p);
  return CpuContext(m, threads).matmulTable().describe(0);
}

// Compares all memory, including the gaps between rows.
void check(const MatmulCase &p, int threads) {
  const std::vector<float> got = run(p, threads), wanted = expected(p).c;
  const double scale = std::sqrt(double(p.d.k) * loopCount(p.d.n_outer, p.d.outer)) + 2;
  for (int64_t i = 0; i < p.sizeC; ++i)
    ASSERT_NEAR(got[i], wanted[i], 2e-6 * scale) << i << ": " << p.describe() << ", " << describe(p, threads);
}

TEST(Matmul, everyLayout) {
  for (int bits = 0; bits < 8; ++bits)
    for (int64_t pad : {0, 5})
      for (bool accumulate : {false, true})
        for (int threads : {1, 2})
          check(problem(37, 29, 41, bits & 1, bits & 2, bits & 4, pad).with(false, accumulate), threads);
}

TEST(Matmul, biasAndEpilogues) {
  for (br_epilogue e : {BR_EPILOGUE_NONE, BR_EPILOGUE_GELU_TANH, BR_EPILOGUE_GELU_ERF, BR_EPILOGUE_SILU})
    for (bool bias : {false, true})
      for (bool accumulate : {false, true})
        for (bool transposed : {false, true})
          check(problem(33, 48, 20, false, true, transposed).with(bias, accumulate, e), 2);
}

TEST(Matmul, degenerateSizes) {
  for (int64_t m : {1, 3})
    for (int64_t n : {1, 3})
      for (int64_t k : {1, 3})
        for (int bits = 0; bits < 8; ++bits)
          for (int64_t pad : {0, 2})
            check(problem(m, n, k, bits & 1, bits & 2, bits & 4, pad).with(true, bits & 1), 2);
}

TEST(Matmul, batches) {
  for (int threads : {1, 2, 3})
    for (bool broadcast : {false, true}) {
      check(problem(16, 24, 8, false, true, false).batch(5, broadcast), threads);
      check(problem(16, 24, 8, true, false, false, 3).batch(3).batch(4, broadcast), threads);
      check(problem(16, 24, 8, false, false, true).batch(7).with(true, true), threads);
    }
}

TEST(Matmul, outerLoopsAddUp) {
  for (bool accumulate : {false, true})
    for (int64_t n : {1, 2, 4})
      check(problem(20, 16, 12, false, true, false).outer(n).with(true, accumulate), 2);
  check(problem(20, 16, 12, true, false, false).outer(3).outer(2).batch(3), 2);
  check(problem(20, 16, 12, true, false, false).outer(3).with(true, false, BR_EPILOGUE_GELU_TANH), 2);
}

TEST(Matmul, refusesAnEpilogueThatCannotBeRight) {
  MatmulCase p = problem(20, 16, 12, false, false, false);
  p.outer(3).with(false, true, BR_EPILOGUE_SILU);
  EXPECT_THROW(run(p, 1), Error);
}

TEST(Matmul, refusesEpiloguesOfTraining) {
  MatmulCase kept = problem(20, 16, 12, false, false, false), gradient = kept;
  kept.with(false, false, BR_EPILOGUE_GELU_TANH).d.has_aux = 1;
  EXPECT_THROW(run(kept, 1), Error);
  EXPECT_THROW(run(gradient.with(false, false, BR_EPILOGUE_GELU_TANH_GRAD), 1), Error);
  for (br_dtype type : {BR_F32, BR_BF16}) {
    MatmulCase summed = problem(20, 16, 12, false, false, false).ofTypes(type, BR_F32);
    try {
      run(summed.withSum(BR_BIAS_GRAD_B, false), 1);
      FAIL();
    } catch (const Error &error) {
      EXPECT_NE(std::string(error.what()).find("oneDNN has no epilogue"), std::string::npos);
    }
  }
}

TEST(Matmul, refusesOtherTypesAndTellsWhich) {
  MatmulCase p = problem(4, 4, 4, false, false, false);
  p.d.b.type = BR_F64;
  try {
    run(p, 1);
    FAIL();
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("matmul 0 (4 x 4 x 4)"), std::string::npos);
  }
}

TEST(Matmul, bf16WhereTheProcessorHasIt) {
  MatmulCase p = problem(32, 32, 32, false, true, false).ofTypes(BR_BF16, BR_F32);
  p.areWhole = true; // and so the same in bf16
  std::vector<uint16_t> a, b;
  for (float x : p.a())
    a.push_back(toBFloat16(x));
  for (float x : p.b())
    b.push_back(toBFloat16(x));
  br_model model = modelOf(p);
  try {
    CpuContext context(model, 2);
    std::vector<float> c(p.sizeC);
    br_matmul(&context, 0, a.data(), b.data(), c.data(), nullptr, nullptr);
    EXPECT_EQ(c, expected(p).c);
  } catch (const Error &error) {
    GTEST_SKIP() << error.what();
  }
}

// Runs in bf16, with or without a copy of B. Returns nothing if the processor has no bf16.
std::optional<std::vector<float>> runHalf(MatmulCase p, int threads, bool isCopied, std::string *how = nullptr) {
  p.ofTypes(BR_BF16, BR_F32).areWhole = true; // and so the same in bf16
  p.d.copy_b = isCopied;
  auto half = [](const std::vector<float> &values) {
    std::vector<uint16_t> all;
    for (float x : values)
      all.push_back(toBFloat16(x));
    return all;
  };
  const std::vector<uint16_t> a = half(p.a()), b = half(p.b());
  br_model model = modelOf(p);
  CpuContext context(model, threads);
  if (context.matmulTable().describe(0).find("brg:avx512_core_bf16") == std::string::npos)
    return std::nullopt;
  if (how)
    *how = context.matmulTable().describe(0);
  std::vector<float> c = p.c();
  br_matmul(&context, 0, a.data(), b.data(), c.data(), p.d.has_bias ? p.bias().data() : nullptr, nullptr);
  return c;
}

TEST(Matmul, panelsOfB) {
  for (auto [m, n, k] : {std::array{100, 64, 32}, {40, 1, 33}, {40, 100, 1}, {70, 129, 31}, {64, 192, 770}})
    for (int bits = 0; bits < 8; ++bits)
      for (int64_t pad : {0, 5}) {
        MatmulCase p = problem(m, n, k, bits & 1, bits & 2, false, pad).with(bits & 4, bits & 1);
        std::string how;
        std::optional<std::vector<float>> got = runHalf(p, 2, true, &how);
        if (!got)
          GTEST_SKIP() << "no fast bf16 here";
        EXPECT_NE(how.find("B in panels"), std::string::npos) << how;
        EXPECT_EQ(*got, *runHalf(p, 2, false)) << p.describe() << ", " << how;
        p.areWhole = true;
        EXPECT_EQ(*got, expected(p).c) << p.describe() << ", " << how;
      }
}

TEST(Matmul, noPanelsWhereTheyDoNotFitOrAreA) {
  MatmulCase large = problem(64, 512, 512, false, false, false), turned = problem(64, 64, 64, false, false, true);
  large.d.workspace_bytes = 500 << 10;
  for (const MatmulCase &p : {large, turned, problem(16, 64, 32, false, true, false).batch(3)}) {
    std::string how;
    std::optional<std::vector<float>> got = runHalf(p, 2, true, &how);
    if (!got)
      GTEST_SKIP() << "no fast bf16 here";
    EXPECT_EQ(how.find("panels"), std::string::npos) << how;
    EXPECT_EQ(*got, *runHalf(p, 2, false)) << p.describe();
  }
}

// C is divided into strips if A must be packed and does not fit. All strips read the same panels.
TEST(Matmul, stripsSharePanels) {
  MatmulCase p = problem(3000, 64, 256, true, true, false, 8);
  p.d.workspace_bytes = 1 << 20;
  std::string how;
  std::optional<std::vector<float>> got = runHalf(p, 2, true, &how);
  if (!got)
    GTEST_SKIP() << "no fast bf16 here";
  EXPECT_EQ(how.rfind("strips", 0), 0u) << how;
  EXPECT_NE(how.find("B in panels"), std::string::npos) << how;
  p.areWhole = true;
  EXPECT_EQ(*got, expected(p).c) << how;
}

TEST(Matmul, sameBitsInEveryRun) {
  for (int threads : {1, 2, 3}) {
    MatmulCase big = problem(130, 200, 300, true, false, false).with(false, true);
    MatmulCase many = problem(32, 32, 16, false, true, false).batch(12);
    EXPECT_EQ(run(big, threads), run(big, threads));
    EXPECT_EQ(run(many, threads), run(many, threads));
  }
}

TEST(Matmul, splitsIntoStripsWhenTheTeamsScratchDoesNotFit) {
  MatmulCase p = problem(200, 64, 96, true, false, false);
  std::string roomy = describe(p, 4);
  if (roomy.find("brg") == std::string::npos)
    GTEST_SKIP() << "oneDNN needs no scratch memory here: " << roomy;
  EXPECT_EQ(roomy.rfind("team", 0), 0u) << roomy;
  p.d.workspace_bytes = 0;
  for (uint64_t bytes = 64 << 10; bytes < workspace; bytes *= 2) {
    p.d.workspace_bytes = bytes;
    if (describe(p, 4).rfind("strips", 0) == 0) {
      check(p, 4);
      return;
    }
  }
  GTEST_SKIP() << "no workspace size asks for strips here";
}

// The workspace that the compiler plans suffices for the mode that a call chooses with any workspace.
TEST(Matmul, plannedWorkspaceIsEnough) {
  auto check = [](int64_t m, int64_t n, int64_t k, int64_t items, br_dtype type, int bits) {
    for (int threads : {1, 2, 3, 4}) {
      MatmulCase p = problem(m, n, k, bits & 1, bits & 2, false).ofTypes(type, type);
      p.d.copy_b = type == BR_BF16;
      if (items > 1)
        p.batch(items);
      const std::string roomy = describe(p, threads);
      p.d.workspace_bytes =
          static_cast<uint64_t>(matmulWorkspace({m, n, k, items, type == BR_BF16 ? 2 : 4}, workspace));
      EXPECT_EQ(describe(p, threads), roomy) << p.describe() << ", " << threads << " threads, " << p.d.workspace_bytes;
    }
  };
  for (br_dtype type : {BR_F32, BR_BF16})
    for (int bits = 0; bits < 4; ++bits) {
      for (auto [m, n, k] : {std::array{8, 8, 8}, {37, 29, 41}, {64, 10, 784}, {256, 192, 768}, {65, 65, 4096}})
        check(m, n, k, 1, type, bits);
      for (auto [m, n, k] : {std::array{64, 64, 32}, {200, 16, 200}})
        check(m, n, k, 6, type, bits);
    }
}

TEST(Matmul, runsWithoutWorkspaceOrSaysWhatItNeeds) {
  MatmulCase p = problem(64, 64, 64, false, true, false);
  p.d.workspace_bytes = 0;
  try {
    check(p, 2);
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("bytes of workspace"), std::string::npos);
  }
}

TEST(Matmul, allocatesNothingToSpeakOf) {
  MatmulCase single = problem(64, 96, 128, false, true, false).with(true, false, BR_EPILOGUE_GELU_TANH);
  MatmulCase many = problem(32, 32, 16, false, true, false).batch(12);
  MatmulCase heads = problem(64, 48, 32, false, true, false, 32).batch(8); // parts of wider matrices
  for (const MatmulCase &p : {single, many, heads}) {
    br_model model = modelOf(p);
    CpuContext context(model, 2);
    if (!test::canCountAllocations() || context.matmulTable().describe(0).find("gemm") != std::string::npos)
      GTEST_SKIP() << context.matmulTable().describe(0);
    std::vector<float> a(p.sizeA), b(p.sizeB), c(p.sizeC), bias(p.d.n);
    br_matmul(&context, 0, a.data(), b.data(), c.data(), bias.data(), nullptr);
    test::startCountingAllocations();
    for (int i = 0; i < 3; ++i)
      br_matmul(&context, 0, a.data(), b.data(), c.data(), bias.data(), nullptr);
    EXPECT_EQ(test::stopCountingAllocations(), 0u) << context.matmulTable().describe(0);
  }
}

TEST(Matmul, workspaceOutsideTheArenaIsRefused) {
  MatmulCase p = problem(4, 4, 4, false, false, false);
  br_model model = modelOf(p);
  model.arena_bytes -= 1;
  EXPECT_THROW(CpuContext(model, 1), Error);
}

} // namespace
