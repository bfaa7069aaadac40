//===- ExampleModels.cpp - two models written by hand ---------------------===//

#include "ExampleModels.h"

#include "TestFiles.h"
#include "cpu/kernel.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <gtest/gtest.h>

std::function<void(int step)> braid::test::afterTrainStep;

namespace braid {

//===----------------------------------------------------------------------===//
// Rows of the tables
//===----------------------------------------------------------------------===//

namespace {

struct Place {
  uint64_t offset, bytes;
};
using Extents = std::initializer_list<int64_t>;

// Normal with this deviation, or zeros.
br_tensor stored(const char *name, br_category category, Extents shape, Extents stride, Place at, double deviation,
                 bool checkpoint) {
  br_tensor t{};
  t.name = name, t.category = category, t.dtype = BR_F32, t.rank = static_cast<int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), t.shape);
  std::copy(stride.begin(), stride.end(), t.stride);
  t.offset = at.offset, t.bytes = at.bytes;
  t.init = deviation > 0 ? BR_INIT_NORMAL : BR_INIT_ZEROS, t.init_b = deviation, t.checkpoint = checkpoint;
  return t;
}

br_io io(const char *name, const char *role, br_dtype dtype, Extents shape, Place at) {
  br_io io{};
  io.name = name, io.role = role, io.dtype = dtype, io.rank = static_cast<int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), io.shape);
  io.offset = at.offset, io.bytes = at.bytes;
  return io;
}

} // namespace

//===----------------------------------------------------------------------===//
// Linear regression
//===----------------------------------------------------------------------===//

namespace regression {

constexpr int B = 8, D = 4, N = 3, K = 2;

// The plan: the offset of each tensor in the arena.
struct Arena {
  alignas(64) float weight[N][D]; // logical [D, N]
  alignas(64) float momentum[N][D];
  alignas(64) float gradient[N][D];
  alignas(64) float lossSum;
  alignas(64) float x[B][D];
  alignas(64) float y[B][N];
  alignas(64) float error[B][N];
  alignas(64) float lr;
  int32_t step;
  int32_t key[4];
  float loss, gradNorm;
  alignas(64) std::byte workspace[1 << 20];
};

Arena &arenaOf(br_context *ctx) { return *static_cast<Arena *>(br_arena(ctx)); }

// error = (error - labels) * 2 / (B N K); adds the summand of the loss.
void squaredError(Block, const float *labels, float *error, float *loss) {
  float sum = 0;
  for (int64_t l = 0; l < B * N; l += W) {
    int64_t n = minimum(int64_t{W}, B * N - l);
    V e = ld(error + l, n) - ld(labels + l, n);
    sum += row_sum(e * e, n);
    st(error + l, e * (2.0f / (B * N * K)), n);
  }
  *loss += sum / (B * N * K);
}

// error = x W - y; lossSum += mean(error^2) / K; gradient += x^T error * 2 / (B
// N K)
void forwardBackward(br_context *ctx) {
  Arena &a = arenaOf(ctx);
  br_matmul(ctx, 0, a.x, a.weight, a.error, nullptr, nullptr);
  launch_rows(ctx, 1, B * N, squaredError, &a.y[0][0], &a.error[0][0], &a.lossSum);
  br_matmul(ctx, 1, a.x, a.error, a.gradient, nullptr, nullptr);
}

br_status accumulate(br_context *ctx) {
  forwardBackward(ctx);
  return BR_OK;
}

br_status train(br_context *ctx) {
  Arena &a = arenaOf(ctx);
  forwardBackward(ctx);
  float squares = 0;
  for (int i = 0; i < D * N; ++i) {
    float &g = (&a.gradient[0][0])[i], &m = (&a.momentum[0][0])[i];
    squares += g * g;
    m = 0.9f * m + g;
    (&a.weight[0][0])[i] -= a.lr * m;
    g = 0;
  }
  a.gradNorm = sqrt(squares);
  a.loss = a.lossSum;
  a.lossSum = 0;
  if (test::afterTrainStep)
    test::afterTrainStep(a.step);
  return BR_OK;
}

br_status eval(br_context *ctx) {
  Arena &a = arenaOf(ctx);
  br_matmul(ctx, 0, a.x, a.weight, a.error, nullptr, nullptr);
  float sum = 0;
  for (int i = 0; i < B * N; ++i) {
    float e = (&a.error[0][0])[i] - (&a.y[0][0])[i];
    sum += e * e;
  }
  a.loss = sum / (B * N);
  return BR_OK;
}

#define AT(member)                                                                                                     \
  Place { offsetof(Arena, member), sizeof(Arena::member) }
const br_tensor tensors[] = {stored("w", BR_PARAMETERS, {D, N}, {1, D}, AT(weight), 0.1, true),
                             stored("w.momentum", BR_OPTIMIZER_STATE, {D, N}, {1, D}, AT(momentum), 0, true),
                             stored("w.grad", BR_GRADIENTS, {D, N}, {1, D}, AT(gradient), 0, false),
                             stored("loss.sum", BR_GRADIENTS, {}, {}, AT(lossSum), 0, false)};
const br_io trainIos[] = {io("x", "features", BR_F32, {B, D}, AT(x)),
                          io("y", "labels", BR_F32, {B, N}, AT(y)),
                          io("lr", "lr", BR_F32, {}, AT(lr)),
                          io("step", "step", BR_I32, {}, AT(step)),
                          io("key", "key", BR_I32, {4}, AT(key)),
                          io("loss", "loss", BR_F32, {}, AT(loss)),
                          io("grad_norm", "grad_norm", BR_F32, {}, AT(gradNorm))};
const br_io evalIos[] = {io("x", "features", BR_F32, {B, D}, AT(x)), io("y", "labels", BR_F32, {B, N}, AT(y)),
                         io("loss", "loss", BR_F32, {}, AT(loss))};
const br_program programs[] = {{"train", train, trainIos, 5, 2, nullptr, 0},
                               {"accumulate", accumulate, trainIos, 5, 0, nullptr, 0},
                               {"eval", eval, evalIos, 2, 1, nullptr, 0}};

br_matmul_desc matmulDesc(int64_t m, int64_t n, int64_t k) {
  br_matmul_desc d{};
  d.m = m, d.n = n, d.k = k;
  d.a.type = d.b.type = d.c.type = BR_F32;
  d.workspace_offset = offsetof(Arena, workspace);
  d.workspace_bytes = sizeof(Arena::workspace);
  return d;
}

br_model make() {
  static br_matmul_desc matmuls[] = {matmulDesc(B, N, D), matmulDesc(D, N, B)};
  br_matmul_desc &forward = matmuls[0], &backward = matmuls[1];
  forward.a.row_stride = D, forward.a.column_stride = 1, forward.b.row_stride = 1, forward.b.column_stride = D;
  forward.c.row_stride = N, forward.c.column_stride = 1;
  backward.a.row_stride = 1, backward.a.column_stride = D, backward.b.row_stride = N, backward.b.column_stride = 1;
  backward.c.row_stride = 1, backward.c.column_stride = D, backward.accumulate = 1;
  static const std::string plan = R"({"arena_bytes":)" + std::to_string(sizeof(Arena)) + R"(,"peak_bytes":)" +
                                  std::to_string(sizeof(Arena)) +
                                  R"(,"peak_op":"train","by_category":{"parameters":48,"gradients":48},)"
                                  R"("tensors":[{"name":"w","category":"parameters","bytes":48,"first":0,"last":9}]})";
  br_model model{};
  model.abi_version = BR_ABI_VERSION;
  model.name = "regression";
  model.graph_hash = 0x1234;
  model.arena_bytes = sizeof(Arena);
  model.accumulate = K;
  model.tensors = tensors, model.n_tensors = std::size(tensors);
  model.programs = programs, model.n_programs = std::size(programs);
  model.matmuls = matmuls, model.n_matmuls = std::size(matmuls);
  model.plan_json = plan.c_str();
  model.cpu_features = "";
  return model;
}

} // namespace regression

//===----------------------------------------------------------------------===//
// Which byte follows which
//===----------------------------------------------------------------------===//

namespace bigram {

constexpr int B = 4, S = 16, C = 256;

struct Arena {
  alignas(64) float table[C][C];
  alignas(64) float gradient[C][C];
  alignas(64) float logits[B * S][C]; // and their gradient
  alignas(64) float losses[B * S];
  alignas(64) int32_t tokens[B][S];
  alignas(64) int32_t targets[B][S];
  alignas(64) float lr;
  int32_t step, position;
  float loss;
  alignas(64) float nextLogits[C];
};

Arena &arenaOf(br_context *ctx) { return *static_cast<Arena *>(br_arena(ctx)); }

// Computes the loss of a row, and writes the gradient of the mean loss over the logits.
void crossEntropy(Block block, float *logits, const int32_t *targets, float *losses) {
  for (int64_t r = block.begin; r < block.end; ++r) {
    float *row = logits + r * C;
    V largest = ld(row);
    for (int64_t l = W; l < C; l += W)
      largest = maximum(largest, ld(row + l));
    float top = row_max(largest);
    V sums{};
    for (int64_t l = 0; l < C; l += W)
      sums += exp(ld(row + l) - top);
    float sum = row_sum(sums);
    losses[r] = log(sum) + top - row[targets[r]];
    for (int64_t l = 0; l < C; l += W) {
      V hot = mask_to_float(lane_index(l) == targets[r]);
      st(row + l, (exp(ld(row + l) - top) / sum - hot) * (1.0f / (B * S)));
    }
  }
}

br_status forward(br_context *ctx) {
  Arena &a = arenaOf(ctx);
  br_gather(ctx, BR_F32, B * S, C, C, a.table, &a.tokens[0][0], a.logits);
  launch_rows(ctx, B * S, C, crossEntropy, &a.logits[0][0], &a.targets[0][0], a.losses);
  float sum = 0;
  for (float loss : a.losses)
    sum += loss;
  a.loss = sum / (B * S);
  return BR_OK;
}

void descend(Block block, const float *gradient, const float *lr, float *weights) {
  lanes(block.begin, block.end,
        [&](int64_t l, auto n) { st(weights + l, ld(weights + l, n) - ld(gradient + l, n) * *lr, n); });
}

br_status train(br_context *ctx) {
  Arena &a = arenaOf(ctx);
  forward(ctx);
  br_scatter_add(ctx, BR_F32, B * S, C, C, &a.tokens[0][0], a.logits, 0, a.gradient);
  launch_lanes(ctx, 1, C * C, descend, &a.gradient[0][0], &a.lr, &a.table[0][0]);
  if (test::afterTrainStep)
    test::afterTrainStep(a.step);
  return BR_OK;
}

br_status generate(br_context *ctx) {
  Arena &a = arenaOf(ctx);
  br_gather(ctx, BR_F32, 1, C, C, a.table, &a.tokens[0][a.position], a.nextLogits);
  return BR_OK;
}

const br_tensor tensors[] = {stored("table", BR_PARAMETERS, {C, C}, {C, 1}, AT(table), 0.02, true)};
const br_io trainIos[] = {io("tokens", "tokens", BR_I32, {B, S}, AT(tokens)),
                          io("targets", "targets", BR_I32, {B, S}, AT(targets)), io("lr", "lr", BR_F32, {}, AT(lr)),
                          io("step", "step", BR_I32, {}, AT(step)), io("loss", "loss", BR_F32, {}, AT(loss))};
const br_io evalIos[] = {io("tokens", "tokens", BR_I32, {B, S}, AT(tokens)),
                         io("targets", "targets", BR_I32, {B, S}, AT(targets)),
                         io("loss", "loss", BR_F32, {}, AT(loss))};
const br_io generateIos[] = {io("tokens", "tokens", BR_I32, {1, S}, AT(tokens)),
                             io("position", "position", BR_I32, {}, AT(position)),
                             io("logits", "logits", BR_F32, {C}, AT(nextLogits))};
const br_program programs[] = {{"train", train, trainIos, 4, 1, nullptr, 0},
                               {"eval", forward, evalIos, 2, 1, nullptr, 0},
                               {"generate", generate, generateIos, 2, 1, nullptr, 0}};
#undef AT

br_model make() {
  br_model model{};
  model.abi_version = BR_ABI_VERSION;
  model.name = "bigram";
  model.graph_hash = 0x5678;
  model.arena_bytes = sizeof(Arena);
  model.accumulate = 1;
  model.vocab_size = C;
  model.tensors = tensors, model.n_tensors = std::size(tensors);
  model.programs = programs, model.n_programs = std::size(programs);
  model.plan_json = "{}";
  model.cpu_features = "";
  return model;
}

} // namespace bigram
} // namespace braid

//===----------------------------------------------------------------------===//
// Running them
//===----------------------------------------------------------------------===//

const br_model &braid::test::regressionModel() {
  static const br_model model = regression::make();
  return model;
}

const br_model &braid::test::bigramModel() {
  static const br_model model = bigram::make();
  return model;
}

braid::test::Outcome braid::test::runMain(const br_model &model, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "program");
  std::vector<char *> argv;
  for (std::string &argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  int status = br_main(static_cast<int>(arguments.size()), argv.data(), &model);
  std::string output = testing::internal::GetCapturedStdout();
  return {status, output, testing::internal::GetCapturedStderr()};
}

std::string braid::test::regressionData() {
  constexpr int rows = 100, D = regression::D, N = regression::N;
  std::vector<float> x(rows * D), y(rows * N);
  for (int i = 0; i < rows * D; ++i)
    x[i] = std::sin(1.7f * i) + 0.3f * std::cos(0.9f * i * i);
  for (int r = 0; r < rows; ++r)
    for (int n = 0; n < N; ++n)
      for (int d = 0; d < D; ++d)
        y[r * N + n] += x[r * D + d] * (0.5f * d - 0.25f * n);
  std::string header = R"({"x":{"dtype":"F32","shape":[100,4],"data_offsets":[0,1600]},)"
                       R"("y":{"dtype":"F32","shape":[100,3],"data_offsets":[1600,2800]}})";
  std::string data(reinterpret_cast<char *>(x.data()), x.size() * 4);
  data.append(reinterpret_cast<char *>(y.data()), y.size() * 4);
  return safetensors(header, data);
}

std::string braid::test::bigramData() {
  std::string text;
  const std::string line = "the quick brown fox jumps over the lazy dog. ";
  while (text.size() < 4000)
    text += line;
  return text;
}
