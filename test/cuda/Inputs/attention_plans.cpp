// Asks cuDNN for plans of the runtime's graphs of attention for GPUs that are not here:
// cuDNN is told of a device by its properties.  Prints a line for each.
//
//   attention_plans: sm_90 8x12x1024x64 ... gradient: 201720064 bytes of workspace
#include "CallWorkspace.h"
#include "cuda/CudnnGraph.cpp" // as one source: the headers of the frontend take half a minute

#include <cstdio>
#include <dlfcn.h>
#include <iterator>
#include <optional>

namespace fe = cudnn_frontend;
void *cudnn_frontend::cudnn_dlhandle = nullptr;

namespace {

// As cudaDeviceProp has them; the numbers of an A100, an H100 and a B200.
std::string propertiesText(int gpu) {
  const int sharedMemory = gpu == 80 ? 166912 : 232448;
  const std::pair<const char *, long> numbers[] = {{"deviceVer", gpu * 10},
                                                   {"driverVer", 13000},
                                                   {"cudaDeviceId", 0},
                                                   {"totalGlobalMem", 85000000000},
                                                   {"regsPerBlock", 65536},
                                                   {"multiProcessorCount", 132},
                                                   {"smCountOrigin", 0},
                                                   {"warpSize", 32},
                                                   {"maxSharedMemoryPerBlock", 49152},
                                                   {"maxSharedMemoryPerBlockOptin", sharedMemory},
                                                   {"oversizedSharedMemoryPerBlock", 0},
                                                   {"reservedSharedMemoryPerBlock", 1024},
                                                   {"maxRegistersPerSM", 65536},
                                                   {"maxCtasPerSM", 32},
                                                   {"maxThreadsPerBlock", 1024},
                                                   {"maxThreadsPerSM", 2048},
                                                   {"pciDeviceId", 0},
                                                   {"isTccDriver", 0},
                                                   {"supportCoopLaunch", 1},
                                                   {"smClockRateKHz", 1980000},
                                                   {"memClockRateKHz", 2619000},
                                                   {"memoryBusWidth", 5120},
                                                   {"l2CacheSize", 52428800}};
  std::string text =
      "{\"deviceName\":\"none\",\"maxGridSize\":[2147483647,65535,65535],\"maxBlockSize\":[1024,1024,64]";
  for (auto [name, number] : numbers)
    text += ",\"" + std::string(name) + "\":" + std::to_string(number);
  return text + "}";
}

struct Case {
  const char *name;
  int64_t batch, heads, keyHeads, queries, keys, size;
  bool causal, packed;
};

// q, k and v as parts of one tensor, or each by itself.
br_attention_desc describe(const Case &one, bool gradient) {
  br_attention_desc desc{};
  desc.batch = one.batch, desc.heads = one.heads, desc.key_heads = one.keyHeads;
  desc.queries = one.queries, desc.keys = one.keys, desc.size = one.size;
  auto fill = [&](int64_t *strides, int64_t positions, int64_t heads, bool packed) {
    const int64_t row = (packed ? one.heads + 2 * one.keyHeads : heads) * one.size;
    strides[0] = positions * row, strides[1] = row, strides[2] = one.size;
  };
  for (int64_t *strides : {desc.q, desc.dq})
    fill(strides, one.queries, one.heads, one.packed);
  for (int64_t *strides : {desc.k, desc.v, desc.dk, desc.dv})
    fill(strides, one.keys, one.keyHeads, one.packed);
  for (int64_t *strides : {desc.o, desc.dout})
    fill(strides, one.queries, one.heads, false);
  desc.gradient = gradient, desc.type = BR_BF16, desc.scale = 0.125, desc.causal = one.causal;
  return desc;
}

// Programs of examples, compiled for a GPU.
struct Example {
  const char *name;
  int gpu;
  const br_attention_desc *rows;
  size_t count;
};
#include "examples.inc"

// Within `cap` bytes of workspace, as the runtime asks for it.
std::string plan(const br_attention_desc &desc, int gpu, int64_t &workspace, std::optional<int64_t> cap = {}) {
  const std::string text = propertiesText(gpu);
  auto properties = std::make_shared<fe::DeviceProperties>();
  fe::error_t error = properties->deserialize({text.begin(), text.end()});
  fe::graph::Graph graph;
  // Nodes take these as they are added.
  graph.set_device_properties(properties).set_sm_version(gpu);
  braid::fillGraph(graph, desc);
  if (error.is_good())
    error = graph.validate();
  if (error.is_good())
    error = graph.build_operation_graph();
  if (error.is_good())
    error = graph.create_execution_plans({fe::HeurMode_t::A});
  if (cap)
    graph.deselect_workspace_greater_than(*cap);
  if (error.is_good())
    error = graph.check_support();
  if (error.is_good())
    error = graph.build_plans(fe::BuildPlanPolicy_t::HEURISTICS_CHOICE);
  if (error.is_good())
    error = graph.get_workspace_size(workspace);
  return error.is_good() ? "" : error.get_message();
}

// The rows of lib/Target/TargetInfo.cpp.
braid::AttentionSums sumsOf(int gpu) {
  if (gpu == 90)
    return {true, true, 1};
  return {gpu != 100, false, 2};
}

// What the compiler sets aside.
int64_t promised(const br_attention_desc &desc, int gpu) {
  if (!desc.gradient)
    return braid::attentionSlack;
  return attentionGradWorkspace({desc.batch, desc.heads, desc.key_heads, desc.queries, desc.keys, desc.size, 2},
                                sumsOf(gpu), desc.order == BR_ORDER_FIXED);
}

// Whether the library and its frontend have the serial order for the GPU.
bool hasSerialOrder(int gpu) {
  return sumsOf(gpu).hasSerial && fe::detail::get_backend_version() >= braid::kFirstWithSerialOrder;
}

int planExamples() {
  int failures = 0;
  for (const Example &example : examples)
    for (size_t i = 0; i < example.count; ++i) {
      const br_attention_desc &desc = example.rows[i];
      const int64_t cap = static_cast<int64_t>(desc.workspace_bytes);
      int64_t workspace = 0;
      const std::string error = plan(desc, example.gpu, workspace, cap);
      failures += !error.empty() || workspace > cap;
      std::printf("sm_%d, example %s%s, %ld x %ld of %ld heads, %ld x %ld: %ld of %ld bytes of workspace%s%s\n",
                  example.gpu, example.name, desc.gradient ? ", gradient" : "", desc.batch, desc.heads, desc.key_heads,
                  desc.queries, desc.size, workspace, cap, error.empty() ? "" : ": ", error.c_str());
    }
  return failures;
}

} // namespace

int main() {
  cudnn_frontend::cudnn_dlhandle = dlopen("libcudnn.so.9", RTLD_NOW);
  if (!cudnn_frontend::cudnn_dlhandle)
    return std::printf("%s\n", dlerror()), 1;
  const Case cases[] = {
      {"gpt2", 8, 12, 12, 1024, 1024, 64, true, true},        {"grouped", 2, 32, 8, 2048, 2048, 128, true, false},
      {"grouped, packed", 2, 8, 2, 256, 256, 64, true, true}, {"odd length", 2, 4, 4, 33, 33, 32, true, true},
      {"not causal", 2, 4, 4, 200, 200, 16, false, true},     {"other keys", 2, 4, 4, 128, 300, 64, false, false},
      {"short", 64, 12, 12, 64, 64, 64, true, true},          {"small", 1, 2, 1, 2, 2, 8, true, false}};
  struct Way {
    const char *name;
    bool gradient;
    br_sum_order order;
  };
  const Way ways[] = {{"", false, BR_ORDER_FIXED},
                      {", gradient", true, BR_ORDER_FIXED},
                      {", gradient in any order", true, BR_ORDER_ANY},
                      {", gradient in serial order", true, BR_ORDER_SERIAL}};
  int failures = planExamples();
  for (const Way &way : ways) // serial ones last: they change the frontend's environment
    for (int gpu : {80, 90, 100, 120})
      for (const Case &one : cases) {
        if (way.order == BR_ORDER_SERIAL && !hasSerialOrder(gpu))
          continue;
        if (way.order == BR_ORDER_SERIAL)
          braid::allowNoScores();
        br_attention_desc desc = describe(one, way.gradient);
        desc.order = way.order;
        int64_t workspace = 0;
        std::string error = plan(desc, gpu, workspace);
        if (error.empty() && workspace > promised(desc, gpu))
          error = "takes more than the " + std::to_string(promised(desc, gpu)) + " bytes that the compiler sets aside";
        failures += !error.empty();
        std::printf("sm_%d, %s%s: %ld bytes of workspace%s%s\n", gpu, one.name, way.name, static_cast<long>(workspace),
                    error.empty() ? "" : ": ", error.c_str());
      }
  return failures != 0;
}
