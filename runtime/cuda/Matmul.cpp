//===- Matmul.cpp - the table of matrix products --------------------------===//
//
// MatmulPlan.cpp lists what of cuBLASLt is used.
//
//===----------------------------------------------------------------------===//

#include "cuda/Matmul.h"

#include "cuda/MatmulPlan.h"

#include <map>

using namespace braid;

class braid::LtHandle : public LtLibrary {};

namespace {

// What decides how a product runs: everything but where its workspace and GELU's input lie.
std::vector<int64_t> keyOf(const br_matmul_desc &d) {
  std::vector<int64_t> key = {
      d.m,          d.n,        d.k,       d.a_m,     d.a_k,     d.b_k,      d.b_n,
      d.c_m,        d.c_n,      d.a_type,  d.b_type,  d.c_type,  d.has_bias, d.bias_type,
      d.accumulate, d.epilogue, d.n_batch, d.n_outer, d.has_aux, d.aux_m,    static_cast<int64_t>(d.workspace_bytes)};
  for (int32_t i = 0; i < d.n_batch; ++i)
    key.insert(key.end(), {d.batch[i], d.a_batch[i], d.b_batch[i], d.c_batch[i]});
  for (int32_t i = 0; i < d.n_outer; ++i)
    key.insert(key.end(), {d.outer[i], d.a_outer[i], d.b_outer[i]});
  return key;
}

// The library wants its workspace at a multiple of this.
constexpr uint64_t workspaceAlignment = 256;

} // namespace

CudaMatmulTable::CudaMatmulTable(const br_model &model, std::byte *arena, cudaStream_t stream)
    : descriptors(model.matmuls), arena(arena), stream(stream), library(std::make_unique<LtHandle>()) {
  if (model.n_matmuls)
    checkLt(cublasLtCreate(library->out()), "cuBLASLt", "cublasLtCreate");
  std::map<std::vector<int64_t>, std::shared_ptr<CudaMatmulPlan>> known;
  for (int32_t i = 0; i < model.n_matmuls; ++i) {
    const br_matmul_desc &d = model.matmuls[i];
    const std::string where = concat("matmul ", i, " (", d.m, " x ", d.n, " x ", d.k, ")");
    if (d.workspace_offset + d.workspace_bytes > model.arena_bytes)
      fail(where, ": its workspace lies outside the arena");
    if (d.workspace_offset % workspaceAlignment)
      fail(where, ": its workspace starts at byte ", d.workspace_offset, " of the arena; cuBLASLt wants multiples of ",
           workspaceAlignment);
    std::shared_ptr<CudaMatmulPlan> &plan = known[keyOf(d)];
    if (!plan)
      plan = std::make_shared<CudaMatmulPlan>(d, CudaMatmulPlan::Place{*library, stream, arena + d.workspace_offset},
                                              where);
    plans.push_back(plan);
  }
}

CudaMatmulTable::~CudaMatmulTable() = default;

br_status CudaMatmulTable::run(int32_t index, const void *a, const void *b, void *c, const void *bias) {
  try {
    const br_matmul_desc &d = descriptors[index];
    plans[index]->run({*library, stream, arena + d.workspace_offset}, a, b, c, bias, arena + d.aux_offset);
    return BR_OK;
  } catch (const Error &failure) { // which stops at the C ABI
    message = failure.what();
    return BR_ERROR;
  }
}

std::string CudaMatmulTable::describe(int32_t index) const { return plans[index]->describe(); }
