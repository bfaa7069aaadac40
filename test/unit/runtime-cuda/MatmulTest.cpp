//===- MatmulTest.cpp - matmuls over cuBLASLt against plain loops ---------===//

#include "gpu/Matmul.h"

#include "../runtime/MatmulCases.h"
#include "Device.h"
#include "base/Error.h"
#include "base/NumberTypes.h"
#include "cuda/MatmulRest.h"

#include <cstdio>
#include <cstdlib>
#include <cuda_bf16.h>
#include <random>

using namespace braid;
using namespace braid::test;

namespace {

constexpr uint64_t workspace = 1 << 20;

// An arena with the workspace, then A, B, C, the bias, GELU's input, the gradient of a bias and
// the addend.
class MatmulRun {
public:
  explicit MatmulRun(const MatmulCase &p, int64_t shift = 0) : p(p), shift(shift) {
    desc = p.d;
    desc.workspace_bytes = workspace;
    uint64_t end = workspace;
    a = place(p.sizeA, desc.a.type, end), b = place(p.sizeB, desc.b.type, end), c = place(p.sizeC, desc.c.type, end);
    bias = place(desc.n, desc.bias_type, end), desc.aux_offset = place(p.aux().size(), desc.c.type, end);
    desc.bias_grad_offset = place(p.sizeSum(), desc.c.type, end);
    addend = place(p.sizeAddend, desc.c.type, end);
    model.arena_bytes = end;
    model.matmuls = &desc;
    model.n_matmuls = 1;
    succeed(cudaMalloc(reinterpret_cast<void **>(&arena), end));
    write(a, p.a(), desc.a.type), write(b, p.b(), desc.b.type), write(c, p.c(), desc.c.type);
    write(bias, p.bias(), desc.bias_type), write(desc.aux_offset, p.aux(), desc.c.type);
    write(desc.bias_grad_offset, p.random(p.sizeSum(), 6), desc.c.type); // is overwritten
    write(addend, p.addend(), desc.c.type);
  }
  ~MatmulRun() { cudaFree(arena); }

  Outcome operator()() { return addingFrom(desc.has_addend ? addend : 0); }
  // The addend is C.
  Outcome inPlace() { return addingFrom(c); }
  Outcome addingFrom(uint64_t added) {
    MatmulTable table(model, arena, context.stream);
    EXPECT_EQ(table.run(0, arena + a, arena + b, arena + c, desc.has_bias ? arena + bias : nullptr,
                        added ? arena + added : nullptr),
              BR_OK)
        << table.error();
    finish(table);
    context.stream.synchronize().check();
    return {read(c, p.sizeC), read(desc.aux_offset, p.aux().size()), read(desc.bias_grad_offset, p.sizeSum())};
  }
  // Returns the message of a run that fails.
  std::string failure() {
    MatmulTable table(model, arena, context.stream);
    EXPECT_EQ(table.run(0, arena + a, arena + b, arena + c, nullptr, nullptr), BR_ERROR);
    return table.error();
  }

  // Returns the report of the table at the start.
  std::string rests() { return MatmulTable(model, arena, context.stream).describeRests(); }

private:
  // Like the program, whose types are known at compile time.
  void finish(const MatmulTable &table) {
    context.rest = table.rest();
    const Memory m(&context);
    if (desc.c.type == BR_BF16)
      finish_matmul<__nv_bfloat16, __nv_bfloat16>(m);
    else if (desc.a.type == BR_BF16)
      finish_matmul<float, __nv_bfloat16>(m);
    else
      finish_matmul<float, float>(m);
    EXPECT_EQ(context.error, "");
  }
  static int64_t bytesOf(br_dtype type) { return type == BR_BF16 ? 2 : 4; }
  uint64_t place(int64_t elements, br_dtype type, uint64_t &end) const {
    const uint64_t begin = end + shift * bytesOf(type);
    end = (begin + elements * bytesOf(type) + 255) / 256 * 256;
    return begin;
  }
  void write(uint64_t offset, const std::vector<float> &values, br_dtype type) {
    std::vector<uint16_t> halves;
    for (float x : values)
      halves.push_back(toBFloat16(x));
    const void *from = type == BR_BF16 ? static_cast<const void *>(halves.data()) : values.data();
    succeed(cudaMemcpy(arena + offset, from, values.size() * bytesOf(type), cudaMemcpyHostToDevice));
  }
  // Of C's type.
  std::vector<float> read(uint64_t offset, int64_t count) {
    std::vector<float> values(count);
    std::vector<uint16_t> halves(count);
    const bool isHalf = desc.c.type == BR_BF16;
    void *to = isHalf ? static_cast<void *>(halves.data()) : values.data();
    succeed(cudaMemcpy(to, arena + offset, count * bytesOf(desc.c.type), cudaMemcpyDeviceToHost));
    for (int64_t i = 0; isHalf && i < count; ++i)
      values[i] = fromBFloat16(halves[i]);
    return values;
  }

  const MatmulCase &p;
  int64_t shift;
  br_matmul_desc desc;
  br_model model{};
  std::byte *arena = nullptr;
  br_context context;
  uint64_t a, b, c, bias, addend;
};

void check(const MatmulCase &p, int64_t shift = 0) {
  const Outcome wanted = expected(p), got = MatmulRun(p, shift)();
  const double step = p.d.c.type == BR_BF16 ? 1.0 / 256 : p.d.epilogue == BR_EPILOGUE_NONE ? 0 : 1e-5;
  for (size_t i = 0; i < wanted.c.size(); ++i)
    ASSERT_NEAR(got.c[i], wanted.c[i], step * (1 + std::abs(wanted.c[i]))) << i << ": " << p.describe();
  for (size_t i = 0; i < wanted.aux.size(); ++i)
    ASSERT_NEAR(got.aux[i], wanted.aux[i], step * (1 + std::abs(wanted.aux[i]))) << i << ": " << p.describe();
  for (size_t i = 0; i < wanted.sum.size(); ++i)
    ASSERT_NEAR(got.sum[i], wanted.sum[i], step * (1 + std::abs(wanted.sum[i]))) << i << ": " << p.describe();
}

TEST(CudaMatmul, everyLayout) {
  for (int bits = 0; bits < 8; ++bits)
    for (int64_t pad : {0, 5})
      for (bool accumulate : {false, true})
        check(MatmulCase(17, 12, 11, bits & 1, bits & 2, bits & 4, pad).with(false, accumulate));
}

TEST(CudaMatmul, everyTypeBiasAndEpilogue) {
  for (auto [inputs, result] : {std::pair(BR_F32, BR_F32), std::pair(BR_BF16, BR_F32), std::pair(BR_BF16, BR_BF16)})
    for (bool bias : {false, true}) {
      for (bool accumulate : {false, true})
        check(MatmulCase(9, 16, 8, false, true, false).ofTypes(inputs, result).with(bias, accumulate));
      check(MatmulCase(9, 16, 8, false, true, false).ofTypes(inputs, result).with(bias, false, BR_EPILOGUE_GELU_TANH));
    }
}

TEST(CudaMatmul, keepsAndReadsTheInputOfGelu) {
  for (auto [inputs, result] : {std::pair(BR_F32, BR_F32), std::pair(BR_BF16, BR_F32), std::pair(BR_BF16, BR_BF16)})
    for (int64_t pad : {0, 8}) {
      for (bool bias : {false, true})
        check(
            MatmulCase(9, 16, 8, false, true, false).ofTypes(inputs, result).withAux(bias, BR_EPILOGUE_GELU_TANH, pad));
      check(MatmulCase(9, 16, 8, false, true, false)
                .ofTypes(inputs, result)
                .withAux(false, BR_EPILOGUE_GELU_TANH_GRAD, pad));
    }
  check(MatmulCase(9, 16, 8, true, false, false).outer(3).withAux(true, BR_EPILOGUE_GELU_TANH));
}

// C accumulates, but the gradient of the bias does not. It may be anywhere in a bucket.
TEST(CudaMatmul, sumsAnOperandForTheGradientOfABias) {
  for (auto [inputs, result] : {std::pair(BR_F32, BR_F32), std::pair(BR_BF16, BR_F32), std::pair(BR_BF16, BR_BF16)})
    for (br_bias_grad of : {BR_BIAS_GRAD_A, BR_BIAS_GRAD_B})
      for (bool accumulate : {false, true}) {
        for (int bits = 0; bits < 8; ++bits)
          check(MatmulCase(9, 16, 8, bits & 1, bits & 2, bits & 4, 5).ofTypes(inputs, result).withSum(of, accumulate));
        for (int64_t shift : {1, 2, 4, 8})
          check(MatmulCase(7, 5, 11, true, false, false).ofTypes(inputs, result).withSum(of, accumulate), shift);
      }
}

// The addend is not C, and its rows have other gaps.
TEST(CudaMatmul, addsATensor) {
  for (auto [inputs, result] : {std::pair(BR_F32, BR_F32), std::pair(BR_BF16, BR_F32), std::pair(BR_BF16, BR_BF16)})
    for (int64_t pad : {0, 5})
      for (int64_t gap : {0, 8}) {
        for (bool bias : {false, true}) {
          const MatmulCase plain = MatmulCase(9, 16, 8, false, true, false, pad).ofTypes(inputs, result);
          check(MatmulCase(plain).withAddend(bias, gap));
          check(MatmulCase(plain).batch(3).withAddend(bias, gap));
          check(MatmulCase(plain).batch(3).batch(4, true, 1).withAddend(bias, gap));
          check(MatmulCase(1, 16, 8, false, true, false).ofTypes(inputs, result).withAddend(bias, gap));
        }
        check(MatmulCase(9, 16, 8, false, true, true, pad).ofTypes(inputs, result).withAddend(false, gap));
      }
  for (int64_t shift : {1, 2, 4, 8})
    check(MatmulCase(9, 16, 8, false, true, false).ofTypes(BR_BF16, BR_BF16).withAddend(true), shift);
}

// The addend is C: the library requires one layout for both.
TEST(CudaMatmul, addsATensorInPlace) {
  for (int64_t pad : {0, 5}) {
    const MatmulCase plain = MatmulCase(9, 16, 8, false, true, false, pad).batch(3);
    EXPECT_EQ(MatmulRun(MatmulCase(plain).withAddend(true, pad)).inPlace().c,
              expected(MatmulCase(plain).with(true, true)).c);
  }
}

TEST(CudaMatmul, batches) {
  for (bool shared : {false, true}) {
    check(MatmulCase(8, 12, 4, false, true, false).batch(5, shared));
    check(MatmulCase(8, 12, 4, true, false, false, 3).batch(3).batch(4, shared, 1));
    check(MatmulCase(8, 12, 4, false, false, false).batch(3, shared).with(true, true));
  }
}

TEST(CudaMatmul, outerLoopsAddUp) {
  for (bool accumulate : {false, true})
    for (int64_t n : {1, 2, 4})
      check(MatmulCase(10, 8, 6, false, true, false).outer(n).with(true, accumulate));
  check(MatmulCase(10, 8, 6, true, false, false).outer(3).outer(2).batch(3, false, 1).batch(2));
  check(MatmulCase(10, 8, 6, true, false, false).outer(3).with(true, false, BR_EPILOGUE_GELU_TANH));
}

TEST(CudaMatmul, anyMatmul) {
  std::mt19937 random(7);
  auto oneOf = [&](std::initializer_list<int64_t> of) { return of.begin()[random() % of.size()]; };
  auto coin = [&] { return random() % 2 == 0; };
  for (int i = 0; i < 150; ++i) {
    const bool columnMajor = random() % 4 == 0, accumulate = coin();
    MatmulCase p(oneOf({1, 3, 8, 13, 24}), oneOf({1, 5, 8, 16, 27}), oneOf({1, 2, 7, 16}), coin(), coin(), columnMajor,
                 oneOf({0, 0, 1, 8}));
    for (int64_t loops = oneOf({0, 0, 1, 2}); loops > 0; --loops)
      p.outer(oneOf({1, 2, 3}));
    for (int64_t loops = oneOf({0, 0, 1, 2, 3}); loops > 0; --loops)
      p.batch(oneOf({1, 2, 4}), coin(), oneOf({0, 0, 1, 16}));
    p.with(!columnMajor && coin(), accumulate, !accumulate && coin() ? BR_EPILOGUE_GELU_TANH : BR_EPILOGUE_NONE);
    const bool inputsAreHalf = coin(), resultIsHalf = inputsAreHalf && p.d.n_outer == 0 && coin();
    p.ofTypes(inputsAreHalf ? BR_BF16 : BR_F32, resultIsHalf ? BR_BF16 : BR_F32);
    ASSERT_NO_FATAL_FAILURE(check(p, oneOf({0, 0, 1, 2, 8})));
  }
}

// Operands are parts of buffers, which may begin anywhere.
TEST(CudaMatmul, operandsOfAnyAlignment) {
  for (int64_t shift : {1, 2, 4, 8})
    for (br_dtype type : {BR_F32, BR_BF16})
      check(MatmulCase(9, 16, 8, false, true, false).ofTypes(type, type).with(true, false), shift);
}

//===----------------------------------------------------------------------===//
// Epilogues that the library refuses
//===----------------------------------------------------------------------===//

struct CudaMatmulRest : testing::Test {
  static void refuse(const char *epilogues) { setenv("BRAID_SHIM_LT_REFUSES", epilogues, 1); }
  ~CudaMatmulRest() override { unsetenv("BRAID_SHIM_LT_REFUSES"); }
};

constexpr std::pair<br_dtype, br_dtype> types[] = {{BR_F32, BR_F32}, {BR_BF16, BR_F32}, {BR_BF16, BR_BF16}};

TEST_F(CudaMatmulRest, sumsForTheGradientOfABias) {
  refuse("BGRADA,BGRADB");
  for (auto [inputs, result] : types)
    for (br_bias_grad of : {BR_BIAS_GRAD_A, BR_BIAS_GRAD_B})
      for (bool accumulate : {false, true})
        for (int bits = 0; bits < 8; ++bits) {
          check(MatmulCase(9, 40, 8, bits & 1, bits & 2, bits & 4, 5).ofTypes(inputs, result).withSum(of, accumulate));
          check(MatmulCase(3, 300, 1000, bits & 1, bits & 2, bits & 4).ofTypes(inputs, BR_F32).withSum(of, accumulate));
        }
}

TEST_F(CudaMatmulRest, activations) {
  for (const char *epilogues :
       {"GELU,GELU_AUX,GELU_BIAS,GELU_AUX_BIAS,DGELU", "GELU,GELU_AUX,GELU_BIAS,GELU_AUX_BIAS,DGELU,BIAS"}) {
    refuse(epilogues);
    for (auto [inputs, result] : types)
      for (int64_t pad : {0, 8}) {
        const MatmulCase plain = MatmulCase(9, 1104, 8, false, true, false).ofTypes(inputs, result);
        for (bool bias : {false, true}) {
          check(MatmulCase(plain).withAux(bias, BR_EPILOGUE_GELU_TANH, pad));
          check(MatmulCase(plain).with(bias, false, BR_EPILOGUE_GELU_TANH));
        }
        check(MatmulCase(plain).withAux(false, BR_EPILOGUE_GELU_TANH_GRAD, pad));
      }
    check(MatmulCase(9, 16, 8, true, false, false).outer(3).withAux(true, BR_EPILOGUE_GELU_TANH));
    check(MatmulCase(9, 16, 8, true, false, true).with(false, false, BR_EPILOGUE_GELU_TANH));
  }
}

TEST_F(CudaMatmulRest, biases) {
  refuse("BIAS");
  for (bool accumulate : {false, true}) {
    check(MatmulCase(9, 16, 8, false, true, false).with(true, accumulate));
    check(MatmulCase(8, 12, 4, false, true, false, 3).batch(3).batch(4, true, 1).with(true, accumulate));
    check(MatmulCase(10, 8, 6, false, true, false).outer(3).with(true, accumulate), 1);
  }
  for (int64_t gap : {0, 8})
    check(MatmulCase(8, 12, 4, false, true, false, 3).batch(3).ofTypes(BR_BF16, BR_BF16).withAddend(true, gap));
}

// The library refuses one type and accepts another. The report gives the refused one and the reason.
TEST_F(CudaMatmulRest, isSaidAtTheStart) {
  refuse("BGRADA:f32,BGRADB:f32");
  const MatmulCase sums = MatmulCase(9, 16, 8, true, false, false).withSum(BR_BIAS_GRAD_B, false);
  EXPECT_EQ(MatmulRun(MatmulCase(sums).ofTypes(BR_BF16, BR_BF16)).rests(), "");
  EXPECT_EQ(MatmulRun(MatmulCase(sums).ofTypes(BR_BF16, BR_F32)).rests(),
            "kernels end 1 of 1 matmuls, as cuBLASLt refuses their epilogues; the gradient of a bias (bf16 by bf16 "
            "into f32): CUBLAS_STATUS_NOT_SUPPORTED, in matmul 0");
}

// Sums of parts are the same for any grid, and close to those of f64.
TEST(CudaSumRows, splitsByTheSizesAndTheWorkspaceAlone) {
  EXPECT_EQ(split_rows(65536, 2304, 2304, 1, 32 << 20).parts(), 64);
  EXPECT_EQ(split_rows(65536, 2304, 2304, 1, 3 * 2304 * 4).parts(), 3);
  EXPECT_EQ(split_rows(65536, 2304, 2304, 1, 0).parts(), 1);
  EXPECT_EQ(split_rows(100, 7, 7, 1, 32 << 20).parts(), 1);
  EXPECT_EQ(split_rows(1000, 7, 7, 1, 32 << 20).parts(), 15);
}

std::string refusal(const MatmulCase &p) {
  try {
    MatmulRun{p}();
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

TEST(CudaMatmul, refusesWhatTheLibraryHasNot) {
  const MatmulCase plain(4, 3, 2, false, false, false);
  MatmulCase p = plain;
  EXPECT_EQ(refusal(p.ofTypes(BR_F32, BR_BF16)),
            "matmul 0 (4 x 3 x 2): multiplies f32 by f32 into bf16; the cuda target has f32 by f32 into f32, and bf16 "
            "by bf16 into f32 or bf16");
  p = plain;
  p.ofTypes(BR_BF16, BR_BF16).with(true, false).d.bias_type = BR_F32;
  EXPECT_NE(refusal(p).find("adds a bias of f32 to a result of bf16"), std::string::npos);
  p = plain;
  EXPECT_NE(refusal(p.with(false, false, BR_EPILOGUE_SILU)).find("ends in SiLU"), std::string::npos);
  p = plain;
  EXPECT_NE(refusal(p.with(false, true, BR_EPILOGUE_GELU_TANH)).find("combined with accumulate"), std::string::npos);
  p = MatmulCase(4, 3, 2, false, false, true);
  EXPECT_NE(refusal(p.with(true, false)).find("column-major"), std::string::npos);
}

TEST(CudaMatmul, refusesOtherUsesOfTheInputOfGelu) {
  const MatmulCase plain(4, 8, 2, false, false, false);
  MatmulCase p = plain;
  EXPECT_NE(refusal(p.withAux(false, BR_EPILOGUE_NONE)).find("but no GELU"), std::string::npos);
  p = plain;
  EXPECT_NE(refusal(p.with(false, false, BR_EPILOGUE_GELU_TANH_GRAD)).find("needs GELU's input"), std::string::npos);
  p = plain;
  EXPECT_NE(refusal(p.withAux(true, BR_EPILOGUE_GELU_TANH_GRAD)).find("adds no bias before"), std::string::npos);
  p = plain;
  EXPECT_NE(refusal(p.withAux(false, BR_EPILOGUE_GELU_TANH, 4)).find("12 elements long"), std::string::npos);
  p = plain;
  EXPECT_NE(refusal(p.batch(3).withAux(false, BR_EPILOGUE_GELU_TANH)).find("for a batch"), std::string::npos);
}

TEST(CudaMatmul, refusesSumsThatWouldBeginAgain) {
  const MatmulCase plain(4, 8, 2, false, false, false);
  MatmulCase p = plain;
  EXPECT_EQ(refusal(p.outer(3).withSum(BR_BIAS_GRAD_B, false)),
            "matmul 0 (4 x 8 x 2): sums an operand for the gradient of a bias over 3 GEMMs, each of which would "
            "restart the sum; compile with --without=exec-select-bias-gradients");
  p = plain;
  EXPECT_NE(refusal(p.batch(5).withSum(BR_BIAS_GRAD_A, false)).find("over 5 GEMMs"), std::string::npos);
  p = plain;
  EXPECT_NE(refusal(p.withSum(BR_BIAS_GRAD_B, false).with(true, false)).find("cuBLASLt supports only one of them"),
            std::string::npos);
  p = plain;
  EXPECT_NE(refusal(p.withSum(BR_BIAS_GRAD_B, false).with(false, false, BR_EPILOGUE_GELU_TANH))
                .find("cuBLASLt supports only one of them"),
            std::string::npos);
}

TEST(CudaMatmul, refusesOtherAddends) {
  const MatmulCase plain(4, 8, 2, false, false, false);
  MatmulCase p = plain;
  p.withAddend(false).d.accumulate = 1;
  EXPECT_EQ(refusal(p), "matmul 0 (4 x 8 x 2): adds a tensor and accumulates, or has another epilogue than a bias; "
                        "split the sum off");
  p = plain;
  EXPECT_NE(refusal(p.outer(3).withAddend(true)).find("3 GEMMs that add up"), std::string::npos);
  p = plain;
  p.ofTypes(BR_BF16, BR_BF16).withAddend(false).d.addend.type = BR_F32;
  EXPECT_NE(refusal(p).find("adds a tensor of f32 to a result of bf16"), std::string::npos);
  p = plain;
  p.withAddend(false).d.addend.row_stride = 1, p.d.addend.column_stride = 4;
  EXPECT_NE(refusal(p).find("adds a column-major matrix to a row-major C"), std::string::npos);
}

// The shim reads its list of failures once per process, so each of these tests has its own process.
struct CudaMatmulFailures : testing::Test {
  CudaMatmulFailures() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  template <class F> static void tell(const char *failure, const F &text) {
    setenv("BRAID_SHIM_FAIL", failure, 1);
    std::fputs(text().c_str(), stderr);
    std::_Exit(0);
  }
};

TEST_F(CudaMatmulFailures, nameTheMatmulAtTheStart) {
  const MatmulCase p(4, 3, 2, false, false, false);
  EXPECT_EXIT(tell("cublasLtMatmulAlgoGetHeuristic:1:CUBLAS_STATUS_INTERNAL_ERROR", [&] { return refusal(p); }),
              testing::ExitedWithCode(0), "matmul 0 \\(4 x 3 x 2\\): cublasLtMatmulAlgoGetHeuristic: ");
}

TEST_F(CudaMatmulFailures, nameTheMatmulThatRuns) {
  const MatmulCase p(4, 3, 2, false, false, false);
  EXPECT_EXIT(tell("cublasLtMatmul:1:CUBLAS_STATUS_INTERNAL_ERROR", [&] { return MatmulRun(p).failure(); }),
              testing::ExitedWithCode(0), "matmul 0 \\(4 x 3 x 2\\): cublasLtMatmul: ");
}

// The shim's devices have 132 multiprocessors.
TEST(CudaMatmul, leavesMultiprocessorsToCollectivesBesideIt) {
  const MatmulCase p(4, 3, 2, false, false, false);
  br_matmul_desc both[2] = {p.d, p.d};
  both[1].beside_collective = 1;
  br_model model{};
  model.matmuls = both;
  model.n_matmuls = 2;
  model.arena_bytes = 1024;
  model.comm_ctas = 16;
  const GpuStream stream;
  const MatmulTable table(model, nullptr, stream);
  EXPECT_NE(table.numberOf(0), table.numberOf(1));
  EXPECT_EQ(table.describe(0).find("multiprocessors"), std::string::npos) << table.describe(0);
  EXPECT_NE(table.describe(1).find(", for 116 multiprocessors"), std::string::npos) << table.describe(1);
  model.comm_ctas = 132;
  try {
    MatmulTable(model, nullptr, GpuStream());
    ADD_FAILURE() << "was taken";
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("132 CTAs, but the GPU has 132 multiprocessors"), std::string::npos)
        << error.what();
  }
}

TEST(CudaMatmul, refusesWorkspaceOutsideTheArenaOrAstray) {
  MatmulCase p(4, 4, 4, false, false, false);
  br_model model{};
  model.matmuls = &p.d;
  model.n_matmuls = 1;
  p.d.workspace_bytes = 16;
  EXPECT_THROW(MatmulTable(model, nullptr, GpuStream()), Error);
  model.arena_bytes = 1024;
  p.d.workspace_offset = 64;
  EXPECT_THROW(MatmulTable(model, nullptr, GpuStream()), Error);
}

TEST(CudaMatmul, refusesWhatItWritesBesideOutsideTheArena) {
  MatmulCase p(4, 4, 4, false, false, false);
  br_model model{};
  model.matmuls = &p.d;
  model.n_matmuls = 1;
  model.arena_bytes = 1024;
  auto expectRefusal = [&] {
    try {
      MatmulTable(model, nullptr, GpuStream());
      ADD_FAILURE() << "was taken";
    } catch (const Error &error) {
      EXPECT_NE(std::string(error.what()).find("lies outside the arena"), std::string::npos) << error.what();
    }
  };
  p.d.bias_grad = BR_BIAS_GRAD_B;
  p.d.bias_grad_offset = 1024 - 12; // of 16 bytes
  expectRefusal();
  p.d.bias_grad = BR_BIAS_GRAD_NONE;
  p.d.has_aux = 1;
  p.d.aux_m = 8;
  p.d.aux_offset = 1024 - 64; // of 128
  expectRefusal();
}

} // namespace
