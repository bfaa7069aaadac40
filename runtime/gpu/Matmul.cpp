//===- Matmul.cpp - the table of the model's matmuls ----------------------===//

#include "gpu/Matmul.h"

#include "base/Error.h"
#include "gpu/Device.h"
#include "gpu/MatmulChoices.h"
#include "gpu/MatmulPlan.h"
#include "gpu/Vendor.h"

#include <algorithm>
#include <map>

using namespace braid;

namespace {

// Returns the multiprocessors of the current device that a matmul may use; 0 means all.
int32_t multiprocessorsFor(const br_matmul_desc &d, const br_model &model) {
  if (!d.beside_collective)
    return 0;
  const int all = multiprocessorsOfDevice();
  if (all <= model.comm_ctas)
    fail("collectives were given ", model.comm_ctas, " CTAs, but the GPU has ", all,
         " multiprocessors, which leaves none to matmuls: compile with a smaller --comm-ctas");
  return all - model.comm_ctas;
}

// Returns all properties that decide how a matmul runs, without the offsets of its workspace, of
// GELU's input and of a bias's gradient.
std::vector<int64_t> keyOf(const br_matmul_desc &d, int32_t multiprocessors) {
  std::vector<int64_t> key = {d.m,
                              d.n,
                              d.k,
                              d.n_batch,
                              d.n_outer,
                              d.has_bias,
                              d.bias_type,
                              d.has_addend,
                              d.accumulate,
                              d.epilogue,
                              d.has_aux,
                              d.aux_m,
                              d.bias_grad,
                              static_cast<int64_t>(d.workspace_bytes),
                              multiprocessors};
  auto append = [&](const int64_t *values, int32_t count) { key.insert(key.end(), values, values + count); };
  append(d.batch, d.n_batch), append(d.outer, d.n_outer);
  for (const br_matrix *matrix : {&d.a, &d.b, &d.c, d.has_addend ? &d.addend : &d.c}) {
    key.insert(key.end(), {matrix->type, matrix->row_stride, matrix->column_stride});
    append(matrix->batch_strides, d.n_batch), append(matrix->outer_strides, d.n_outer);
  }
  return key;
}

// Returns "256,576,192,...", the same on all ranks.
std::string textOf(const std::vector<int64_t> &key) {
  std::string text;
  for (int64_t number : key)
    text += concat(number, ",");
  return text;
}

double flopsOf(const br_matmul_desc &d) {
  double flops = 2.0 * static_cast<double>(d.m) * static_cast<double>(d.n) * static_cast<double>(d.k);
  for (int32_t i = 0; i < d.n_batch; ++i)
    flops *= static_cast<double>(d.batch[i]);
  for (int32_t i = 0; i < d.n_outer; ++i)
    flops *= static_cast<double>(d.outer[i]);
  return flops;
}

// Returns the end offset of GELU's input and of a bias's gradient in the arena.
uint64_t endOfOthers(const br_matmul_desc &d) {
  const uint64_t size = d.c.type == BR_BF16 ? 2 : 4, sums = d.bias_grad == BR_BIAS_GRAD_A ? d.m : d.n;
  return std::max(d.has_aux ? d.aux_offset + d.m * d.aux_m * size : 0,
                  d.bias_grad == BR_BIAS_GRAD_NONE ? 0 : d.bias_grad_offset + sums * size);
}

// The library's alignment of the workspace, in bytes.
constexpr uint64_t workspaceAlignment = 256;

} // namespace

std::string braid::nameOfMatmul(const br_matmul_desc &d, int32_t index) {
  return concat("matmul ", index, " (", d.m, " x ", d.n, " x ", d.k, ")");
}

MatmulKey braid::matmulKeyOf(const br_matmul_desc &d, const br_model &model) {
  const int32_t multiprocessors = multiprocessorsFor(d, model);
  return {multiprocessors, textOf(keyOf(d, multiprocessors))};
}

MatmulTable::MatmulTable(const br_model &model, std::byte *arena, const GpuStream &stream)
    : descriptors(model.matmuls), arena(arena), arenaBytes(model.arena_bytes), stream(stream) {
  if (model.n_matmuls)
    library.emplace();
  std::map<std::string, int32_t> known;
  for (int32_t i = 0; i < model.n_matmuls; ++i) {
    const br_matmul_desc &d = model.matmuls[i];
    const std::string where = nameOfMatmul(d, i);
    if (d.workspace_offset + d.workspace_bytes > model.arena_bytes)
      fail(where, ": its workspace lies outside the arena");
    if (endOfOthers(d) > model.arena_bytes)
      fail(where, ": GELU's input or the gradient of a bias lies outside the arena");
    if (d.workspace_offset % workspaceAlignment)
      fail(where, ": its workspace starts at byte ", d.workspace_offset, " of the arena; ", vendor.gemm,
           " needs multiples of ", workspaceAlignment);
    const MatmulKey key = matmulKeyOf(d, model);
    const auto [same, isNew] = known.try_emplace(key.text, static_cast<int32_t>(plans.size()));
    if (isNew) {
      keys.push_back(key.text);
      plans.push_back(std::make_unique<MatmulPlan>(d, key.multiprocessors,
                                                   GemmPlace{*library, stream, arena + d.workspace_offset}, where));
    }
    numbers.push_back(same->second);
  }
}

MatmulTable::~MatmulTable() = default;

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

std::vector<MatmulTrial> MatmulTable::calls() const {
  std::vector<MatmulTrial> all;
  for (size_t plan = 0; plan < plans.size(); ++plan)
    for (MatmulTrial &trial : plans[plan]->trials()) {
      trial.matmul = static_cast<int32_t>(plan);
      trial.users = std::count(numbers.begin(), numbers.end(), plan);
      trial.key = concat(keys[plan], trial.isLast);
      all.push_back(std::move(trial));
    }
  return all;
}

const br_matmul_desc &MatmulTable::firstOf(const MatmulTrial &trial) const {
  return descriptors[std::find(numbers.begin(), numbers.end(), trial.matmul) - numbers.begin()];
}

void MatmulTable::timeCalls(int maxCandidates) {
  MatmulScratch scratch(arena, arenaBytes, stream);
  trials = calls();
  for (MatmulTrial &trial : trials) {
    const br_matmul_desc &d = firstOf(trial);
    plans[trial.matmul]->time({*library, stream, arena + d.workspace_offset}, maxCandidates, scratch,
                              {d.workspace_offset, d.workspace_offset + d.workspace_bytes}, trial);
  }
  scratch.clear();
}

void MatmulTable::search(int maxCandidates, const AllGather &allGather) {
  try {
    timeCalls(maxCandidates);
  } catch (const Error &failure) { // tells the other ranks
    try {
      allGather(blobOfFailure(failure.what()));
    } catch (const Error &) { // this rank's own failure is the reason to report
    }
    throw;
  }
  chooseByBlobs(trials, allGather(blobOf(trials)));
}

std::vector<MatmulTrial> MatmulTable::fit(const MatmulChoices &choices) {
  std::vector<MatmulTrial> chosen = calls();
  choices.giveTo(chosen);
  for (MatmulTrial &trial : chosen) {
    try {
      plans[trial.matmul]->check({*library, stream, arena + firstOf(trial).workspace_offset}, trial);
    } catch (const Error &failure) {
      fail("matmul plan '", choices.path(), "': ", failure.what(), choices.advice());
    }
  }
  return chosen;
}

void MatmulTable::useChosen(const std::vector<MatmulTrial> &chosen) {
  for (const MatmulTrial &trial : chosen)
    plans[trial.matmul]->useChosen(trial);
}

double MatmulTable::minSeconds(const br_model &model) const {
  double seconds = 0;
  for (size_t plan = 0; plan < plans.size(); ++plan) {
    const br_matmul_desc &d = descriptors[std::find(numbers.begin(), numbers.end(), plan) - numbers.begin()];
    const double peak = d.a.type == BR_BF16 ? model.peak_half_flops : model.peak_flops;
    seconds += peak > 0 ? flopsOf(d) / peak : 0;
  }
  return seconds;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

br_status MatmulTable::run(int32_t index, const void *a, const void *b, void *c, const void *bias, const void *addend,
                           int64_t auxSlot) {
  left.left = 0;
  try {
    const br_matmul_desc &d = descriptors[index];
    std::byte *sum = d.bias_grad ? arena + d.bias_grad_offset : nullptr,
              *aux = d.has_aux ? arena + d.aux_offset + auxSlot : nullptr;
    std::byte *workspace = arena + d.workspace_offset;
    const int32_t rest =
        plans[numbers[index]]->run({*library, stream, workspace}, a, b, c, d.bias_grad ? sum : bias, aux, addend);
    left = {rest, &d, a, b, bias, c, aux, sum, workspace};
    return BR_OK;
  } catch (const Error &failure) { // exceptions must not cross the C ABI
    message = failure.what();
    return BR_ERROR;
  }
}

std::string MatmulTable::describe(int32_t index) const { return plans[numbers[index]]->describe(); }

std::string MatmulTable::describeRests() const {
  std::map<std::string, std::string> matmuls; // matmuls with the same rest and reason, by their text
  size_t count = 0;
  for (size_t index = 0; index < numbers.size(); ++index)
    if (const std::string rest = plans[numbers[index]]->describeFallbacks(); !rest.empty()) {
      std::string &list = matmuls[rest];
      list += concat(list.empty() ? "" : ", ", index);
      ++count;
    }
  std::string text;
  for (const auto &[rest, list] : matmuls)
    text += concat("; ", rest, ", in matmul ", list);
  return count ? concat("kernels end ", count, " of ", numbers.size(), " matmuls, as ", vendor.gemm,
                        " refuses their epilogues", text)
               : "";
}
