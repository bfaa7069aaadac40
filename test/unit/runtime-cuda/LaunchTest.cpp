//===- LaunchTest.cpp - launches that CUDA's fields cannot describe -------===//
//
// Numbers of blocks have 64 bits until they are known to fit: with a truncated number, a kernel would silently do only
// a part of its work. None of these launches reaches a kernel, so no memory is needed.
//
//===----------------------------------------------------------------------===//

#include "cuda/AttentionTiles.h"
#include "cuda/Gather.h"
#include "cuda/MatmulRest.h"

#include "Device.h"

using namespace braid;
using namespace braid::test;

namespace {

constexpr int64_t beyond = (int64_t{1} << 32) + 1; // cut off it is 1

__global__ void mark_kernel(int32_t *ran) {
  enter_kernel();
  if (threadIdx.x == 0)
    store(ran + blockIdx.x, 1);
}

__global__ void mark_vectors_kernel(Vectors<1> vectors) {
  enter_kernel();
  const Part<1> part = vectors.part();
  if (threadIdx.x == 0)
    store(static_cast<int32_t *>(part[0]), static_cast<int32_t>(part.end));
}

void expectRefusal(const br_context &context, const std::string &number, const char *what) {
  EXPECT_NE(context.error.find(number + " " + what), std::string::npos) << context.error;
  EXPECT_NE(context.error.find("of which there can be 1 to"), std::string::npos) << context.error;
}

TEST(Launch, refusesMoreBlocksThanAGridHas) {
  OnDevice<int32_t> ran(std::vector<int32_t>(2, 0));
  for (int64_t blocks : {beyond, max_blocks + 1, int64_t{0}, int64_t{-1}}) {
    br_context context;
    launch(Memory(&context), blocks, 32, mark_kernel, ran.data());
    expectRefusal(context, std::to_string(blocks), "blocks of a kernel");
  }
  EXPECT_EQ(ran.read(), std::vector<int32_t>({0, 0}));
  br_context context;
  launch(Memory(&context), 2, 32, mark_kernel, ran.data());
  EXPECT_EQ(context.error, "");
  EXPECT_EQ(ran.read(), std::vector<int32_t>({1, 1}));
}

TEST(Launch, refusesAVectorOfTooManyParts) {
  br_context context;
  launch_parts(Memory(&context), beyond, 1, 32, mark_vectors_kernel, Address{nullptr});
  expectRefusal(context, std::to_string(beyond), "blocks of a kernel");
}

// Together they would have one block more than a grid allows, so the second is launched separately.
TEST(Launch, splitsVectorsThatDoNotFitOneGrid) {
  br_context context;
  OnDevice<int32_t> end(std::vector<int32_t>(1, 0));
  const Memory m(&context);
  detail::VectorLauncher<1> launcher(m, 1, 32, mark_vectors_kernel);
  launcher.add(max_blocks + 1, Address{nullptr});
  launcher.add(1, Address{reinterpret_cast<char *>(end.data())});
  launcher.flush();
  expectRefusal(context, std::to_string(max_blocks + 1), "blocks of a kernel");
  EXPECT_EQ(end.read(), std::vector<int32_t>({1}));
}

TEST(Launch, refusesEpiloguesOfTooManyRows) {
  br_matmul_desc d = {};
  d.m = beyond, d.n = 1, d.k = 1;
  d.c.row_stride = d.c.column_stride = 1;
  br_matmul_rest rest = {};
  rest.left = BR_REST_BIAS, rest.desc = &d;
  br_context context;
  finish_elements<float>(Memory(&context), rest, nullptr);
  expectRefusal(context, std::to_string(beyond), "blocks of a kernel");
}

TEST(Launch, refusesSumsOfTooManyColumns) {
  br_matmul_desc d = {};
  d.m = 1, d.n = beyond * sum_columns, d.k = 1;
  d.bias_grad = BR_BIAS_GRAD_B;
  br_matmul_rest rest = {};
  rest.left = BR_REST_BIAS_GRAD, rest.desc = &d;
  br_context context;
  sum_operand<float, float>(Memory(&context), rest);
  expectRefusal(context, std::to_string(beyond), "blocks of a kernel");
}

TEST(Launch, refusesLookupsOfTooManyRows) {
  br_context context;
  gather<float>(Memory(&context), beyond * (strip_threads / strip_lanes), 1, 1, nullptr, nullptr, nullptr);
  expectRefusal(context, std::to_string(beyond), "blocks of a kernel");
}

TEST(Launch, refusesMoreUpdatesThanHaveNumbers) {
  for (int64_t n : {max_updates + 1, beyond}) {
    br_context context;
    scatter_add<float>(Memory(&context), n, 1, 1, nullptr, nullptr, 0, nullptr, nullptr);
    expectRefusal(context, std::to_string(n), "updates of the rows of a table");
  }
}

TEST(Launch, refusesAttentionOfTooManyTiles) {
  br_attention_desc d = {};
  d.batch = beyond, d.heads = d.key_heads = 1, d.queries = d.keys = 1, d.size = 64;
  d.type = BR_F32;
  br_context forward, backward;
  attention<float, 64>(Memory(&forward), d, nullptr, nullptr, nullptr, nullptr, nullptr);
  expectRefusal(forward, std::to_string(beyond), "blocks of a kernel");
  attention_grad<float, 64>(Memory(&backward), d, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                            nullptr, nullptr);
  expectRefusal(backward, std::to_string(beyond), "blocks of a kernel");
}

} // namespace
