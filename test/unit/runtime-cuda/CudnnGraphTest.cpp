//===- CudnnGraphTest.cpp - descriptors of attention as tensors of cuDNN --===//

#include "cuda/CudnnGraph.h"

#include <gtest/gtest.h>

using namespace braid;
namespace fe = cudnn_frontend;

namespace {

using Numbers = std::vector<int64_t>;

// [batch, positions, heads, size] of 8, in rows of `row` elements from position to position.
void lay(int64_t *strides, int64_t positions, int64_t row) {
  strides[0] = positions * row, strides[1] = row, strides[2] = 8;
}

fe::graph::Tensor_attributes tensorOf(const fe::graph::Graph &graph, int64_t number) {
  fe::graph::Tensor_attributes tensor;
  EXPECT_EQ(graph.query_tensor_attributes_of_uid(number, tensor).get_message(), "");
  return tensor;
}

void expect(const fe::graph::Graph &graph, int64_t number, const Numbers &dims, const Numbers &strides,
            fe::DataType_t type = fe::DataType_t::BFLOAT16) {
  const fe::graph::Tensor_attributes tensor = tensorOf(graph, number);
  EXPECT_EQ(tensor.get_dim(), dims) << "of tensor " << number;
  EXPECT_EQ(tensor.get_stride(), strides) << "of tensor " << number;
  EXPECT_EQ(tensor.get_data_type(), type) << "of tensor " << number;
}

// Three heads of q, k and v side by side in rows of one tensor.
br_attention_desc packed() {
  br_attention_desc desc{};
  desc.batch = 2, desc.heads = desc.key_heads = 3, desc.queries = desc.keys = 5, desc.size = 8;
  for (int64_t *strides : {desc.q, desc.k, desc.v, desc.dq, desc.dk, desc.dv})
    lay(strides, 5, 72);
  lay(desc.o, 5, 24), lay(desc.dout, 5, 24);
  desc.type = BR_BF16, desc.scale = 0.25, desc.causal = 1;
  return desc;
}

// Four heads of queries read two heads of keys, with another number of positions. Each tensor has its own row length.
br_attention_desc grouped() {
  br_attention_desc desc{};
  desc.batch = 2, desc.heads = 4, desc.key_heads = 2, desc.queries = 5, desc.keys = 7, desc.size = 8;
  lay(desc.q, 5, 32), lay(desc.o, 5, 40), lay(desc.dout, 5, 48), lay(desc.dq, 5, 56);
  lay(desc.k, 7, 16), lay(desc.v, 7, 24), lay(desc.dk, 7, 32), lay(desc.dv, 7, 40);
  desc.type = BR_BF16, desc.scale = 0.5;
  return desc;
}

TEST(CudnnGraph, packedHeads) {
  fe::graph::Graph graph;
  fillGraph(graph, packed());
  EXPECT_EQ(graph.validate().get_message(), "");
  for (int64_t number : {kQ, kK, kV})
    expect(graph, number, {2, 3, 5, 8}, {360, 8, 72, 1});
  expect(graph, kO, {2, 3, 5, 8}, {120, 8, 24, 1});
  expect(graph, kLse, {2, 3, 5, 1}, {15, 5, 1, 1}, fe::DataType_t::FLOAT);
  EXPECT_EQ(graph.attention().scale, 0.25f);
  EXPECT_EQ(graph.attention().rightBound, 0);
}

TEST(CudnnGraph, groupedHeads) {
  fe::graph::Graph graph;
  fillGraph(graph, grouped());
  EXPECT_EQ(graph.validate().get_message(), "");
  expect(graph, kQ, {2, 4, 5, 8}, {160, 8, 32, 1});
  expect(graph, kK, {2, 2, 7, 8}, {112, 8, 16, 1});
  expect(graph, kV, {2, 2, 7, 8}, {168, 8, 24, 1});
  expect(graph, kO, {2, 4, 5, 8}, {200, 8, 40, 1});
  expect(graph, kLse, {2, 4, 5, 1}, {20, 5, 1, 1}, fe::DataType_t::FLOAT);
  EXPECT_EQ(graph.attention().rightBound, std::nullopt);
}

TEST(CudnnGraph, gradientOfGroupedHeads) {
  br_attention_desc desc = grouped();
  desc.gradient = 1;
  for (br_sum_order order : {BR_ORDER_FIXED, BR_ORDER_SERIAL, BR_ORDER_ANY}) {
    desc.order = order;
    fe::graph::Graph graph;
    fillGraph(graph, desc);
    EXPECT_EQ(graph.validate().get_message(), "");
    expect(graph, kQ, {2, 4, 5, 8}, {160, 8, 32, 1});
    expect(graph, kK, {2, 2, 7, 8}, {112, 8, 16, 1});
    expect(graph, kV, {2, 2, 7, 8}, {168, 8, 24, 1});
    expect(graph, kO, {2, 4, 5, 8}, {200, 8, 40, 1});
    expect(graph, kDout, {2, 4, 5, 8}, {240, 8, 48, 1});
    expect(graph, kLse, {2, 4, 5, 1}, {20, 5, 1, 1}, fe::DataType_t::FLOAT);
    expect(graph, kDq, {2, 4, 5, 8}, {280, 8, 56, 1});
    expect(graph, kDk, {2, 2, 7, 8}, {224, 8, 32, 1});
    expect(graph, kDv, {2, 2, 7, 8}, {280, 8, 40, 1});
    for (int64_t number : {kQ, kK, kV, kO, kDout, kLse})
      EXPECT_FALSE(tensorOf(graph, number).get_output()) << "tensor " << number;
    for (int64_t number : {kDq, kDk, kDv})
      EXPECT_TRUE(tensorOf(graph, number).get_output()) << "tensor " << number;
    EXPECT_EQ(graph.attention().isDeterministic, order != BR_ORDER_ANY);
  }
}

} // namespace
