//===- CudnnGraph.cpp - an attention call as a cuDNN graph ----------------===//

#include "cuda/CudnnGraph.h"

#ifndef BRAID_RT_WITHOUT_CUDNN
#include <cstdlib>

using namespace braid;
namespace fe = cudnn_frontend;

namespace {
class Builder {
public:
  Builder(fe::graph::Graph &graph, const br_attention_desc &desc) : graph(graph), desc(desc) {
    graph.set_io_data_type(fe::DataType_t::BFLOAT16)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
  }

  void build() {
    q = input("q", kQ, ofQueries(desc.q)), k = input("k", kK, ofKeys(desc.k)), v = input("v", kV, ofKeys(desc.v));
    if (desc.gradient)
      backward();
    else
      forward();
  }

private:
  using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;
  struct Layout {
    std::vector<int64_t> dims, strides;
  };

  // `strides` has the strides of batch, sequence and heads.
  Layout layout(int64_t heads, int64_t positions, const int64_t *strides) const {
    return {{desc.batch, heads, positions, desc.size}, {strides[0], strides[2], strides[1], 1}};
  }
  Layout ofQueries(const int64_t *strides) const { return layout(desc.heads, desc.queries, strides); }
  Layout ofKeys(const int64_t *strides) const { return layout(desc.key_heads, desc.keys, strides); }
  Layout ofRows() const {
    return {{desc.batch, desc.heads, desc.queries, 1}, {desc.heads * desc.queries, desc.queries, 1, 1}};
  }

  Tensor input(const char *name, CudnnTensor number, const Layout &at, fe::DataType_t type = fe::DataType_t::BFLOAT16) {
    return graph.tensor(fe::graph::Tensor_attributes()
                            .set_name(name)
                            .set_uid(number)
                            .set_dim(at.dims)
                            .set_stride(at.strides)
                            .set_data_type(type));
  }
  static void output(const Tensor &tensor, CudnnTensor number, const Layout &at,
                     fe::DataType_t type = fe::DataType_t::BFLOAT16) {
    tensor->set_output(true).set_uid(number).set_dim(at.dims).set_stride(at.strides).set_data_type(type);
  }

  // Attributes that forward and backward share.
  template <class Attributes> Attributes attributes(const char *name) const {
    Attributes attributes;
    attributes.set_name(name).set_attn_scale(static_cast<float>(desc.scale));
    if (desc.causal)
      attributes.set_diagonal_alignment(fe::DiagonalAlignment_t::TOP_LEFT).set_diagonal_band_right_bound(0);
    return attributes;
  }

  void forward() {
    auto [o, lse] = graph.sdpa(q, k, v, attributes<fe::graph::SDPA_attributes>("attention").set_generate_stats(true));
    output(o, kO, ofQueries(desc.o));
    output(lse, kLse, ofRows(), fe::DataType_t::FLOAT);
  }

  void backward() {
    Tensor o = input("o", kO, ofQueries(desc.o)), dout = input("dout", kDout, ofQueries(desc.dout));
    Tensor lse = input("lse", kLse, ofRows(), fe::DataType_t::FLOAT);
    auto [dq, dk, dv] = graph.sdpa_backward(q, k, v, o, dout, lse,
                                            attributes<fe::graph::SDPA_backward_attributes>("attention_grad")
                                                .set_deterministic_algorithm(desc.order != BR_ORDER_ANY));
    output(dq, kDq, ofQueries(desc.dq));
    output(dk, kDk, ofKeys(desc.dk));
    output(dv, kDv, ofKeys(desc.dv));
  }

  fe::graph::Graph &graph;
  const br_attention_desc &desc;
  Tensor q, k, v;
};
} // namespace

void braid::allowNoScores() { setenv("CUDNN_FRONTEND_ATTN_DP_WORKSPACE_LIMIT", "0", /*overwrite=*/1); }

void braid::fillGraph(fe::graph::Graph &graph, const br_attention_desc &desc) { Builder(graph, desc).build(); }

#endif // BRAID_RT_WITHOUT_CUDNN
