//===- RanksModel.cpp - a model of many ranks, written by hand ------------===//

#include "RanksModel.h"

#include "core/Context.h"

#include <cstddef>
#include <iterator>
#include <mutex>

using namespace braid::test;

std::function<void(const RankCall &)> braid::test::onRankCall;

namespace {

constexpr int rowsOfAll = 8, length = 3;

struct Memory {
  alignas(64) float parameter[4];
  alignas(64) float sums[2]; // of tokens, and how many; over microbatches
  alignas(64) int32_t tokens[rowsOfAll * length];
  int32_t targets[rowsOfAll * length];
  float ownStop, anyStop;
  int32_t step;
  float totals[2], loss;
  int32_t ownValues[8], values[8];
};

Memory &memoryOf(br_context *ctx) { return *static_cast<Memory *>(br_arena(ctx)); }

// Data of the model that was made last.
int readersOf(br_context *ctx);
int32_t ignoredTarget();

void call(br_context *ctx, const char *program) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  if (!onRankCall)
    return;
  Memory &a = memoryOf(ctx);
  int count = rowsOfAll / readersOf(ctx) * length;
  onRankCall({ctx->rank.number, program, a.step, {a.tokens, a.tokens + count}, {a.targets, a.targets + count}});
}

void addUp(br_context *ctx) {
  Memory &a = memoryOf(ctx);
  int count = rowsOfAll / readersOf(ctx) * length;
  for (int i = 0; i < count; ++i)
    if (a.targets[i] != ignoredTarget()) {
      a.sums[0] += static_cast<float>(a.tokens[i]);
      a.sums[1] += 1;
    }
}

enum { Totals, Stop, Values };
br_status reduce(br_context *ctx, int32_t index) {
  return br_start(ctx, index) == BR_OK && br_wait(ctx, index) == BR_OK ? BR_OK : BR_ERROR;
}

br_status accumulate(br_context *ctx) {
  call(ctx, "accumulate");
  addUp(ctx);
  return BR_OK;
}

br_status finish(br_context *ctx) {
  Memory &a = memoryOf(ctx);
  addUp(ctx);
  if (reduce(ctx, Totals) != BR_OK)
    return BR_ERROR;
  a.loss = a.totals[0] / a.totals[1];
  a.sums[0] = a.sums[1] = 0;
  return BR_OK;
}

br_status train(br_context *ctx) {
  call(ctx, "train");
  if (finish(ctx) != BR_OK || reduce(ctx, Stop) != BR_OK)
    return BR_ERROR;
  for (float &w : memoryOf(ctx).parameter)
    w -= 0.001f * memoryOf(ctx).loss;
  return BR_OK;
}

br_status eval(br_context *ctx) {
  call(ctx, "eval");
  return finish(ctx);
}

br_status agree(br_context *ctx) { return reduce(ctx, Values); }

//===----------------------------------------------------------------------===//
// The tables
//===----------------------------------------------------------------------===//

#define AT(member) offsetof(Memory, member), sizeof(Memory::member)
constexpr br_segment_desc totalsPart = {offsetof(Memory, sums), offsetof(Memory, totals), 2, 1, 1, 0, 0},
                          stopPart = {offsetof(Memory, ownStop), offsetof(Memory, anyStop), 1, 1, 1, 0, 0},
                          valuesPart = {offsetof(Memory, ownValues), offsetof(Memory, values), 8, 1, 1, 0, 0};

br_collective_desc allReduce(br_reduction reduction, br_dtype dtype, int32_t group, const br_segment_desc &part) {
  return {BR_ALL_REDUCE, reduction, dtype, group, 0, nullptr, 0, &part, 1};
}

struct Tables {
  std::vector<br_axis> mesh;
  std::vector<br_group> groups;
  std::vector<br_collective_desc> collectives;
  std::vector<br_tensor> tensors;
  std::vector<br_io> trainIos, evalIos, agreeIos;
  std::vector<br_program> programs;
  br_loss loss;
  br_model model{};
} tables;

int readersOf(br_context *) { return tables.mesh[0].size; }
int32_t ignoredTarget() { return tables.loss.ignored; }

br_io batch(const char *role, uint64_t offset) {
  uint64_t bytes = uint64_t{rowsOfAll} / tables.mesh[0].size * length * 4;
  return {role, role, BR_I32, 2, {rowsOfAll, length}, offset, bytes, {1}, 0, 0, 0, 0};
}

br_io number(const char *role, br_dtype dtype, uint64_t offset, uint64_t bytes) {
  return {role, role, dtype, bytes == 4 ? 0 : 1, {static_cast<int64_t>(bytes / 4)}, offset, bytes, {}, 0, 0, 0, 0};
}

void addPrograms(int32_t microbatches) {
  br_io tokens = batch("tokens", offsetof(Memory, tokens)), targets = batch("targets", offsetof(Memory, targets));
  br_io loss = number("loss", BR_F32, AT(loss)), step = number("step", BR_I32, AT(step));
  tables.trainIos = {
      tokens, targets, step, number("stop", BR_F32, AT(ownStop)), loss, number("stop", BR_F32, AT(anyStop))};
  tables.evalIos = {tokens, targets, loss};
  tables.agreeIos = {number("values", BR_I32, AT(ownValues)), number("values", BR_I32, AT(values))};
  tables.programs = {{"train", train, tables.trainIos.data(), 4, 2, nullptr, 0},
                     {"eval", eval, tables.evalIos.data(), 2, 1, nullptr, 0},
                     {"agree", agree, tables.agreeIos.data(), 1, 1, nullptr, 0}};
  if (microbatches > 1)
    tables.programs.push_back({"accumulate", accumulate, tables.trainIos.data(), 3, 0, nullptr, 0});
}

} // namespace

const br_model &braid::test::ranksModel(std::vector<br_axis> mesh, int32_t microbatches, int32_t ignored) {
  tables = {};
  tables.mesh = std::move(mesh);
  // Groups: the rank alone, the ranks that read different rows, and all ranks.
  tables.groups = {{0, {}}, {1, {0}}, {static_cast<int32_t>(tables.mesh.size()), {0, 1}}};
  tables.collectives = {allReduce(BR_SUM, BR_F32, 1, totalsPart), allReduce(BR_SUM, BR_F32, 2, stopPart),
                        allReduce(BR_MAX, BR_I32, 2, valuesPart)};
  br_tensor parameter{};
  parameter.name = "w", parameter.category = BR_PARAMETERS, parameter.dtype = BR_F32, parameter.rank = 1;
  parameter.shape[0] = 4, parameter.stride[0] = 1, parameter.bytes = sizeof(Memory::parameter);
  parameter.init = BR_INIT_NORMAL, parameter.init_b = 1, parameter.checkpoint = 1;
  br_tensor sums = parameter;
  sums.name = "acc", sums.category = BR_GRADIENTS, sums.shape[0] = 2, sums.offset = offsetof(Memory, sums),
  sums.bytes = 8;
  sums.init = BR_INIT_ZEROS, sums.checkpoint = 0;
  tables.tensors = {parameter, sums};
  tables.loss = {"targets", ignored, BR_MEAN, /*rows=*/1};
  addPrograms(microbatches);
  br_model &model = tables.model;
  model.abi_version = BR_ABI_VERSION, model.name = "ranks", model.arena_bytes = sizeof(Memory);
  model.accumulate = microbatches, model.vocab_size = 256, model.plan_json = "{}", model.cpu_features = "";
  model.tensors = tables.tensors.data(), model.n_tensors = static_cast<int32_t>(tables.tensors.size());
  model.programs = tables.programs.data(), model.n_programs = static_cast<int32_t>(tables.programs.size());
  model.mesh = tables.mesh.data(), model.n_axes = static_cast<int32_t>(tables.mesh.size());
  model.groups = tables.groups.data(), model.n_groups = static_cast<int32_t>(tables.groups.size());
  model.collectives = tables.collectives.data();
  model.n_collectives = static_cast<int32_t>(tables.collectives.size());
  model.loss = &tables.loss;
  return model;
}
