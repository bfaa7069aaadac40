//===- Matmul.cpp - the model's table of matmuls --------------------------===//

#include "cpu/Matmul.h"

#include "base/Error.h"
#include "cpu/MatmulPlan.h"
#include "host/Threads.h"

#include <map>

using namespace braid;

namespace {

// Returns all fields of a descriptor that determine how a matmul runs; all but the place of its workspace.
std::vector<int64_t> keyOf(const br_matmul_desc &d) {
  std::vector<int64_t> key = {d.m,
                              d.n,
                              d.k,
                              d.n_batch,
                              d.n_outer,
                              d.has_bias,
                              d.bias_type,
                              d.accumulate,
                              d.epilogue,
                              d.copy_b,
                              static_cast<int64_t>(d.workspace_bytes)};
  auto append = [&](const int64_t *values, int32_t count) { key.insert(key.end(), values, values + count); };
  append(d.batch, d.n_batch), append(d.outer, d.n_outer);
  for (const br_matrix *matrix : {&d.a, &d.b, &d.c}) {
    key.insert(key.end(), {matrix->type, matrix->row_stride, matrix->column_stride});
    append(matrix->batch_strides, d.n_batch), append(matrix->outer_strides, d.n_outer);
  }
  return key;
}

} // namespace

MatmulTable::MatmulTable(const br_model &model, int threads, std::byte *arena)
    : descriptors(model.matmuls), arena(arena), threads(threads) {
  setThreads(threads);
  const bool hasBFloat16 = multipliesBFloat16();
  std::map<std::vector<int64_t>, std::shared_ptr<MatmulPlan>> known;
  for (int32_t i = 0; i < model.n_matmuls; ++i) {
    const br_matmul_desc &d = model.matmuls[i];
    std::string where = concat("matmul ", i, " (", d.m, " x ", d.n, " x ", d.k, ")");
    if (d.workspace_offset + d.workspace_bytes > model.arena_bytes)
      fail(where, ": its workspace lies outside the arena");
    if (d.bias_grad != BR_BIAS_GRAD_NONE)
      fail(where, ": sums an operand for the gradient of a bias, for which oneDNN has no epilogue; compile for this "
                  "target, or with --without=exec-select-bias-gradients");
    if (d.has_addend)
      fail(where,
           ": adds a tensor apart from its result, which this target leaves to kernels; compile for this target");
    if (d.a.type == BR_BF16 && !hasBFloat16) {
      plans.push_back(nullptr); // runs by loops
      continue;
    }
    std::shared_ptr<MatmulPlan> &plan = known[keyOf(d)];
    try {
      if (!plan)
        plan = std::make_shared<MatmulPlan>(d, threads, where);
    } catch (const dnnl::error &error) {
      fail(where, ": oneDNN refuses its strides or types: ", error.what());
    }
    plans.push_back(plan);
  }
}

MatmulTable::~MatmulTable() = default;

void MatmulTable::run(int32_t index, const void *a, const void *b, void *c, const void *bias) {
  if (!plans[index])
    return multiplyByLoops(descriptors[index], threads, static_cast<const char *>(a), static_cast<const char *>(b),
                           static_cast<char *>(c), static_cast<const char *>(bias));
  plans[index]->run(static_cast<const char *>(a), static_cast<const char *>(b), static_cast<char *>(c),
                    static_cast<const char *>(bias),
                    reinterpret_cast<char *>(arena) + descriptors[index].workspace_offset);
}

std::string MatmulTable::describe(int32_t index) const { return plans[index] ? plans[index]->describe() : "loops"; }

bool MatmulTable::isSlow(int32_t index) const { return plans[index] && plans[index]->isSlow(); }
