//===- runtime.cpp - what the runtime does besides kernels and matmuls -----===//
//
// Measures, on one thread, initial values per second with this machine's instructions and with older ones, and the rate
// of copies of blocks compared with memcpy.
//
//===----------------------------------------------------------------------===//

#include "base/RandomNumbers.h"
#include "cpu/Blocks.h"
#include "cpu/CpuContext.h"
#include "train/InitialValues.h"

#include <benchmark/benchmark.h>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

using namespace braid;

namespace {

void countElements(benchmark::State &state, int64_t elements) {
  state.SetItemsProcessed(state.iterations() * elements);
}

//===----------------------------------------------------------------------===//
// Initial values
//===----------------------------------------------------------------------===//

constexpr RandomStream normal{1, 7, 0, 0.02};

void draw(benchmark::State &state, DrawFunction function) {
  std::vector<uint64_t> index(512);
  std::iota(index.begin(), index.end(), 0);
  std::vector<float> out(index.size());
  for (auto _ : state) {
    function(normal, index.data(), static_cast<int64_t>(index.size()), out.data());
    benchmark::ClobberMemory();
  }
  countElements(state, static_cast<int64_t>(index.size()));
}

void drawByDefinition(benchmark::State &state) {
  uint64_t index = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(normalAt(normal, index++));
  countElements(state, 1);
}

// A weight of 3072 x 768, stored as it is or transposed.
void initializeWeight(benchmark::State &state, br_dtype dtype, bool transposed) {
  br_tensor weight{};
  weight.name = "parameters";
  weight.category = BR_PARAMETERS;
  weight.dtype = dtype;
  weight.rank = 2;
  weight.shape[0] = 3072, weight.shape[1] = 768;
  weight.stride[0] = transposed ? 1 : 768, weight.stride[1] = transposed ? 3072 : 1;
  weight.init = BR_INIT_NORMAL, weight.init_b = 0.02;
  const int64_t elements = 3072 * 768;
  weight.bytes = elements * (dtype == BR_BF16 ? 2 : 4);
  br_model model{};
  model.tensors = &weight, model.n_tensors = 1;
  std::vector<std::byte> memory(weight.bytes);
  for (auto _ : state)
    initialize(model, weight, memory.data(), 1, 1, 0);
  countElements(state, elements);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void copyBlock(benchmark::State &state, const BlockCopy &copy) {
  br_model model{};
  CpuContext context(model, 1);
  const int64_t elements = std::accumulate(copy.size, copy.size + copy.loops, int64_t{1}, std::multiplies<>());
  std::vector<float> from(2 * elements, 1), to(2 * elements);
  for (auto _ : state) {
    copy_block(&context, copy, from.data(), 0, to.data(), 0);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * elements * copy.bytes);
}

void copyMemory(benchmark::State &state) {
  std::vector<float> from(3072 * 768, 1), to(from.size());
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size() * sizeof(float));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(from.size() * sizeof(float)));
}

} // namespace

int main(int argc, char **argv) {
  for (const RandomKernel &kernel : randomKernels()) {
    const std::string instructions = kernel.instructions;
    benchmark::RegisterBenchmark(("normals/" + instructions).c_str(), draw, kernel.normals);
    benchmark::RegisterBenchmark(("uniforms/" + instructions).c_str(), draw, kernel.uniforms);
  }
  benchmark::RegisterBenchmark("normals/definition", drawByDefinition);
  benchmark::RegisterBenchmark("initialize/f32", initializeWeight, BR_F32, false);
  benchmark::RegisterBenchmark("initialize/f32/transposed", initializeWeight, BR_F32, true);
  benchmark::RegisterBenchmark("initialize/bf16", initializeWeight, BR_BF16, false);

  const std::pair<const char *, BlockCopy> copies[] = {
      {"rows", {4, 1, {3072 * 768}, {1}, {1}}},
      {"half of the columns", {4, 2, {3072, 384}, {768, 1}, {384, 1}}},
      {"four columns of eight", {4, 2, {589824, 4}, {8, 1}, {4, 1}}},
      {"half of a transposed one", {4, 2, {768, 1536}, {1, 768}, {1, 768}}},
      {"transposing", {4, 2, {3072, 768}, {1, 3072}, {768, 1}}},
      {"heads", {4, 4, {8, 12, 128, 64}, {98304, 64, 768, 1}, {98304, 8192, 64, 1}}},
  };
  benchmark::RegisterBenchmark("memcpy", copyMemory);
  for (const auto &[name, copy] : copies)
    benchmark::RegisterBenchmark((std::string("copy_block/") + name).c_str(), copyBlock, copy);

  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
