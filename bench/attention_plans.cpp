// Times every plan that cuDNN's heuristic offers for attention and its gradient on this GPU, for three layouts of the
// operands.  A training program takes the first plan that fits its workspace; this shows what another plan, another
// layout or a fixed order of sums would take.
//
//   c++ -std=c++20 -O1 -Iruntime -isystem FRONTEND -isystem $CUDA_HOME/include bench/attention_plans.cpp
//       -L$CUDA_HOME/lib64 -lcudart -ldl -o attention_plans
//   ./attention_plans [SECONDS]
//
// prints one JSON object for each plan: the median seconds of a call over SECONDS (0.15) of calls, back to back.
#include "cuda/CudnnGraph.cpp" // as one source: the headers of the frontend take half a minute
#include "cuda/CudnnLibrary.cpp"
#include "gpu_timing.h"

#include <cstdio>
#include <unordered_map>

namespace {

struct Shape {
  const char *name;
  int64_t batch, heads, keyHeads, positions, size;
};
constexpr Shape kShapes[] = {
    {"gpt2-124m", 64, 12, 12, 1024, 64}, {"llama-1b", 4, 32, 4, 4096, 64}, {"llama-8b", 2, 32, 8, 8192, 128}};

// How q, k and v lie in memory: slices of one tensor as a merged projection writes them, tensors of their own, or
// tensors of their own with the heads outside of the positions.
enum class Layout { packed, apart, headsOuter };
constexpr std::pair<Layout, const char *> kLayouts[] = {
    {Layout::packed, "packed"}, {Layout::apart, "apart"}, {Layout::headsOuter, "heads outer"}};

void fillStrides(int64_t *strides, const Shape &shape, int64_t heads, Layout layout) {
  const int64_t packedHeads = shape.heads + 2 * shape.keyHeads;
  const int64_t row = (layout == Layout::packed ? packedHeads : heads) * shape.size;
  strides[0] = shape.positions * row;
  strides[1] = layout == Layout::headsOuter ? shape.size : row;
  strides[2] = layout == Layout::headsOuter ? shape.positions * shape.size : shape.size;
}

br_attention_desc describe(const Shape &shape, Layout layout, bool gradient, br_sum_order order) {
  br_attention_desc desc{};
  desc.batch = shape.batch, desc.heads = shape.heads, desc.key_heads = shape.keyHeads;
  desc.queries = desc.keys = shape.positions, desc.size = shape.size;
  for (int64_t *strides : {desc.q, desc.dq})
    fillStrides(strides, shape, shape.heads, layout);
  for (int64_t *strides : {desc.k, desc.v, desc.dk, desc.dv})
    fillStrides(strides, shape, shape.keyHeads, layout);
  for (int64_t *strides : {desc.o, desc.dout}) // what projections read and write
    fillStrides(strides, shape, shape.heads, layout == Layout::packed ? Layout::apart : layout);
  desc.gradient = gradient, desc.type = BR_BF16, desc.causal = true, desc.order = order;
  desc.scale = 0.125;
  return desc;
}

using Places = std::unordered_map<int64_t, void *>;

// The operands and results of a shape in a layout.
class Tensors {
public:
  Tensors(const Shape &shape, Layout layout) {
    const int64_t queries = shape.batch * shape.positions * shape.heads * shape.size;
    const int64_t keys = shape.batch * shape.positions * shape.keyHeads * shape.size;
    for (auto [q, k, v] : {std::tuple{braid::kQ, braid::kK, braid::kV}, {braid::kDq, braid::kDk, braid::kDv}}) {
      if (layout == Layout::packed) {
        auto *packed = static_cast<uint16_t *>(own(queries + 2 * keys));
        places[q] = packed, places[k] = packed + shape.heads * shape.size;
        places[v] = packed + (shape.heads + shape.keyHeads) * shape.size;
      } else {
        places[q] = own(queries), places[k] = own(keys), places[v] = own(keys);
      }
    }
    places[braid::kO] = own(queries), places[braid::kDout] = own(queries);
    places[braid::kLse] = own(2 * shape.batch * shape.heads * shape.positions);
  }
  ~Tensors() {
    for (void *memory : owned)
      cudaFree(memory);
  }
  Places of(bool gradient) const {
    Places some = places;
    if (!gradient)
      for (int64_t number : {braid::kDout, braid::kDq, braid::kDk, braid::kDv})
        some.erase(number);
    return some;
  }

private:
  void *own(int64_t count) { return owned.emplace_back(randomNumbers(count)); }
  Places places;
  std::vector<void *> owned;
};

struct Workspace {
  void *memory = nullptr;
  int64_t bytes = 0;
  void *ofAtLeast(int64_t needed) {
    if (needed > bytes) {
      cudaFree(memory);
      check(cudaMalloc(&memory, needed), "workspace");
      bytes = needed;
    }
    return memory;
  }
};

struct Run {
  cudnnHandle_t handle;
  Timer timer;
  Workspace workspace;

  void one(const Shape &shape, const char *layout, const br_attention_desc &desc, const Tensors &tensors) {
    fe::graph::Graph graph;
    braid::fillGraph(graph, desc);
    fe::error_t error = graph.validate();
    if (error.is_good())
      error = graph.build_operation_graph(handle);
    if (error.is_good())
      error = graph.create_execution_plans({fe::HeurMode_t::A});
    if (error.is_good())
      error = graph.check_support(handle);
    if (error.is_bad())
      return (void)std::printf("{\"shape\": \"%s\", \"layout\": \"%s\", \"refused\": \"%s\"}\n", shape.name, layout,
                               error.get_message().c_str());
    // Causal: half of the scores; two products forward, five backward.
    const double flops = (desc.gradient ? 5.0 : 2.0) * desc.batch * desc.heads * desc.queries * desc.keys * desc.size;
    for (int64_t index = 0; index < graph.get_execution_plan_count(); ++index) {
      std::string plan;
      if (graph.get_plan_name_at_index(index, plan).is_bad() || graph.build_plan_at_index(handle, index).is_bad())
        continue;
      const int64_t bytes = graph.get_workspace_size_plan_at_index(index);
      Places places = tensors.of(desc.gradient);
      void *memory = workspace.ofAtLeast(bytes);
      const double seconds = timer.time([&] {
        if (fe::error_t error = graph.execute_plan_at_index(handle, places, memory, index); error.is_bad())
          stop(plan.c_str(), error.get_message());
      });
      std::printf("{\"shape\": \"%s\", \"layout\": \"%s\", \"gradient\": %s, \"order\": \"%s\", \"plan\": \"%s\", "
                  "\"workspace\": %ld, \"seconds\": %.6g, \"tflops\": %.1f}\n",
                  shape.name, layout, desc.gradient ? "true" : "false", desc.order == BR_ORDER_ANY ? "any" : "fixed",
                  plan.c_str(), static_cast<long>(bytes), seconds, flops / seconds * 1e-12);
      std::fflush(stdout);
    }
  }
};

} // namespace

int main(int argc, char **argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0.15;
  if (argc > 2 || !(seconds > 0))
    return std::fprintf(stderr, "usage: attention_plans [SECONDS]\n"), 2;
  try {
    braid::loadCudnn();
  } catch (const std::exception &error) {
    stop("cuDNN", error.what());
  }
  Run run{nullptr, Timer(seconds), {}};
  if (fe::detail::create_handle(&run.handle) != CUDNN_STATUS_SUCCESS)
    stop("cuDNN", "it does not start");
  for (const Shape &shape : kShapes)
    for (auto [layout, name] : kLayouts) {
      const Tensors tensors(shape, layout);
      run.one(shape, name, describe(shape, layout, false, BR_ORDER_FIXED), tensors);
      for (br_sum_order order : {BR_ORDER_ANY, BR_ORDER_FIXED})
        run.one(shape, name, describe(shape, layout, true, order), tensors);
    }
}
