//===- Matmul.cpp - the table of the model's matmuls ----------------------===//
//
// MatmulPlan.cpp lists what of cuBLASLt is used.
//
//===----------------------------------------------------------------------===//

#include "cuda/Matmul.h"

#include "cuda/MatmulPlan.h"

#include <algorithm>
#include <map>

using namespace braid;

class braid::LtHandle : public LtLibrary {};

namespace {

// What decides how a matmul runs: everything but where its workspace, GELU's input and a
// bias's gradient lie.
std::vector<int64_t> keyOf(const br_matmul_desc &d) {
  std::vector<int64_t> key = {d.m,          d.n,
                              d.k,          d.a_m,
                              d.a_k,        d.b_k,
                              d.b_n,        d.c_m,
                              d.c_n,        d.a_type,
                              d.b_type,     d.c_type,
                              d.has_bias,   d.bias_type,
                              d.accumulate, d.epilogue,
                              d.n_batch,    d.n_outer,
                              d.has_aux,    d.aux_m,
                              d.bias_grad,  static_cast<int64_t>(d.workspace_bytes)};
  for (int32_t i = 0; i < d.n_batch; ++i)
    key.insert(key.end(), {d.batch[i], d.a_batch[i], d.b_batch[i], d.c_batch[i]});
  for (int32_t i = 0; i < d.n_outer; ++i)
    key.insert(key.end(), {d.outer[i], d.a_outer[i], d.b_outer[i]});
  return key;
}

// Behind GELU's input and a bias's gradient, which the descriptor places.
uint64_t endOfOthers(const br_matmul_desc &d) {
  const uint64_t size = d.c_type == BR_BF16 ? 2 : 4, sums = d.bias_grad == BR_BIAS_GRAD_A ? d.m : d.n;
  return std::max(d.has_aux ? d.aux_offset + d.m * d.aux_m * size : 0,
                  d.bias_grad == BR_BIAS_GRAD_NONE ? 0 : d.bias_grad_offset + sums * size);
}

// The library wants its workspace at a multiple of this.
constexpr uint64_t workspaceAlignment = 256;

} // namespace

CudaMatmulTable::CudaMatmulTable(const br_model &model, std::byte *arena, cudaStream_t stream)
    : descriptors(model.matmuls), arena(arena), arenaBytes(model.arena_bytes), stream(stream),
      library(std::make_unique<LtHandle>()) {
  if (model.n_matmuls)
    checkLt(cublasLtCreate(library->out()), "cuBLASLt", "cublasLtCreate");
  std::map<std::vector<int64_t>, int32_t> known;
  for (int32_t i = 0; i < model.n_matmuls; ++i) {
    const br_matmul_desc &d = model.matmuls[i];
    const std::string where = concat("matmul ", i, " (", d.m, " x ", d.n, " x ", d.k, ")");
    if (d.workspace_offset + d.workspace_bytes > model.arena_bytes)
      fail(where, ": its workspace lies outside the arena");
    if (endOfOthers(d) > model.arena_bytes)
      fail(where, ": GELU's input or the gradient of a bias lies outside the arena");
    if (d.workspace_offset % workspaceAlignment)
      fail(where, ": its workspace starts at byte ", d.workspace_offset, " of the arena; cuBLASLt wants multiples of ",
           workspaceAlignment);
    const auto [same, isNew] = known.try_emplace(keyOf(d), static_cast<int32_t>(plans.size()));
    if (isNew)
      plans.push_back(std::make_unique<CudaMatmulPlan>(
          d, CudaMatmulPlan::Place{*library, stream, arena + d.workspace_offset}, where));
    numbers.push_back(same->second);
  }
}

CudaMatmulTable::~CudaMatmulTable() = default;

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

// "256,576,192,...": the same on all ranks.
static std::string textOf(const std::vector<int64_t> &key) {
  std::string text;
  for (int64_t number : key)
    text += concat(number, ",");
  return text;
}

std::vector<MatmulTrial> CudaMatmulTable::timePlans(int most) {
  MatmulScratch scratch(arena, arenaBytes, stream);
  std::vector<MatmulTrial> all;
  for (size_t plan = 0; plan < plans.size(); ++plan) {
    const br_matmul_desc &d = descriptors[std::find(numbers.begin(), numbers.end(), plan) - numbers.begin()];
    const ArenaRange workspace = {d.workspace_offset, d.workspace_offset + d.workspace_bytes};
    for (MatmulTrial &trial :
         plans[plan]->time({*library, stream, arena + d.workspace_offset}, most, scratch, workspace)) {
      trial.matmul = static_cast<int32_t>(plan);
      trial.users = std::count(numbers.begin(), numbers.end(), plan);
      trial.key = concat(textOf(keyOf(d)), trial.isLast);
      all.push_back(std::move(trial));
    }
  }
  scratch.clear();
  return all;
}

void CudaMatmulTable::search(int most, const AllGather &allGather) {
  try {
    trials = timePlans(most);
  } catch (const Error &failure) { // the other ranks learn of it
    try {
      allGather(blobOfFailure(failure.what()));
    } catch (const Error &) { // this rank's own failure is the reason
    }
    throw;
  }
  chooseByBlobs(trials, allGather(blobOf(trials)));
  for (const MatmulTrial &trial : trials)
    plans[trial.matmul]->take(trial);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

br_status CudaMatmulTable::run(int32_t index, const void *a, const void *b, void *c, const void *bias) {
  try {
    const br_matmul_desc &d = descriptors[index];
    const void *vector = d.bias_grad ? arena + d.bias_grad_offset : bias;
    plans[numbers[index]]->run({*library, stream, arena + d.workspace_offset}, a, b, c, vector, arena + d.aux_offset);
    return BR_OK;
  } catch (const Error &failure) { // which stops at the C ABI
    message = failure.what();
    return BR_ERROR;
  }
}

std::string CudaMatmulTable::describe(int32_t index) const { return plans[numbers[index]]->describe(); }
