//===- Context.cpp - contexts by target, and the C functions for them -----===//

#include "core/Context.h"

#include "base/Error.h"
#include "core/Mesh.h"
#include "host/Threads.h"

#include <algorithm>
#include <map>

using namespace braid;

static void checkWorld(const br_model &model, const Rank &rank) {
  if (worldSize(model) != rank.size)
    fail("model '", model.name, "' was compiled for ", worldSize(model),
         worldSize(model) == 1 ? " rank, but " : " ranks, but ", rank.size, rank.size == 1 ? " is" : " are",
         " running; start as many, or compile with another --mesh");
  if (rank.comm && (br_comm_rank(rank.comm) != rank.number || br_comm_size(rank.comm) != rank.size))
    fail("rank ", rank.number, " of ", rank.size, " has the communicator of rank ", br_comm_rank(rank.comm), " of ",
         br_comm_size(rank.comm));
  if (!rank.comm && !rank.bootstrap && rank.size > 1)
    fail("rank ", rank.number, " of ", rank.size, " has no communicator");
}

br_context::br_context(const br_model &model, int threads, const Rank &rank)
    : model(model), threads(threads), rank(rank), inSlots(model) {
  checkWorld(model, rank);
  for (int32_t kind = 0; kind < std::max(model.n_groups, 1); ++kind)
    indices.push_back(static_cast<int32_t>(placeInGroup(model, kind, rank.number).index));
}

void br_context::checkMessage(br_status status) {
  if (status != BR_OK)
    throw RankError(rank.comm ? br_comm_error(rank.comm) : "a message between stages failed");
}

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

namespace {
struct Target {
  ContextFactory make;
  MatmulLister listMatmuls;
};
} // namespace

static std::map<std::string, Target> &targets() {
  static std::map<std::string, Target> map;
  return map;
}

void braid::registerTarget(const std::string &target, ContextFactory factory, MatmulLister lister) {
  targets()[target] = {factory, lister};
}

static constexpr char kHost[] = "cpu";

static std::string targetOf(const br_model &model) { return model.target ? model.target : kHost; }

bool braid::isForDevice(const br_model &model) { return targetOf(model) != kHost; }

static const Target &findTarget(const br_model &model) {
  std::string target = targetOf(model);
  auto found = targets().find(target.substr(0, target.find(':')));
  if (found == targets().end())
    fail("model '", model.name, "' was compiled for ", target, ", which this program was linked without");
  return found->second;
}

std::unique_ptr<br_context> braid::makeContext(const br_model &model, int threads, const Rank &rank) {
  return findTarget(model).make(model, threads, rank);
}

void braid::listMatmuls(const br_model &model, int device) {
  const Target &target = findTarget(model);
  if (!target.listMatmuls)
    fail("model '", model.name, "' was compiled for ", targetOf(model),
         ", but matmuls are listed only for programs for GPUs; compile it with --target=cuda");
  target.listMatmuls(model, device);
}

//===----------------------------------------------------------------------===//
// Calls from generated code
//===----------------------------------------------------------------------===//

void br_parallel(br_context *ctx, int64_t count, void (*fn)(void *arg, int64_t begin, int64_t end), void *arg) {
  parallelRanges(ctx->threads, count, [&](int, int64_t begin, int64_t end) { fn(arg, begin, end); });
}

void *br_arena(br_context *ctx) { return ctx->arena(); }

int64_t br_slot(br_context *ctx, int32_t slots) { return ctx->slotOffset(slots); }

int br_is_measured(br_context *ctx) { return ctx->isMeasured(); }
void br_action(br_context *ctx, int32_t index) { ctx->action(index); }

void br_matmul(br_context *ctx, int32_t index, const void *a, const void *b, void *c, const void *bias,
               const void *addend) {
  ctx->matmul(index, a, b, c, bias, addend);
}

void br_attention(br_context *ctx, int32_t index, const void *q, const void *k, const void *v, void *o, void *lse) {
  ctx->attention(index, {q, k, v, o, lse});
}

void br_attention_grad(br_context *ctx, int32_t index, const void *q, const void *k, const void *v, const void *o,
                       const void *lse, const void *dout, void *dq, void *dk, void *dv) {
  ctx->attention(index, {q, k, v, const_cast<void *>(o), const_cast<void *>(lse), dout, dq, dk, dv});
}

br_status br_start(br_context *ctx, int32_t index) { return ctx->start(index); }
br_status br_wait(br_context *ctx, int32_t index) { return ctx->wait(index); }
br_status br_start_transfer(br_context *ctx, int32_t index) { return ctx->startTransfer(index); }
br_status br_wait_transfer(br_context *ctx, int32_t index) { return ctx->waitForTransfer(index); }
int32_t br_axis_index(br_context *ctx, int32_t group) { return ctx->indexIn(group); }
