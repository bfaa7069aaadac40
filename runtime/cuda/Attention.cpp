//===- Attention.cpp - attention with cuDNN -------------------------------===//

#include "gpu/Attention.h"

#include "base/Error.h"
#include "cuda/CudnnGraph.h"
#include "cuda/CudnnLibrary.h"

#ifndef BRAID_RT_WITHOUT_CUDNN
#include <algorithm>
#include <unordered_map>
#include <vector>

#if CUDNN_FRONTEND_VERSION < 11200
#error "cudnn_frontend.h is older than 1.12; python3 -m venv venv && venv/bin/pip install nvidia-cudnn-frontend"
#endif

using namespace braid;
namespace fe = cudnn_frontend;

// Advice at the end of messages about cuDNN failures.
static constexpr const char *kDecomposeAdvice = "; the graph compiled with --attention=decompose needs no cuDNN";

namespace {
struct Plan {
  std::unique_ptr<fe::graph::Graph> graph;
  void *workspace;
};
} // namespace

struct AttentionTable::Library {
  Library(const br_model &model, std::byte *arena, const GpuStream &stream);
  ~Library();

  cudnnHandle_t handle = nullptr;
  std::vector<Plan> plans;
};

// Returns "attention of 8 x 12 heads, 1024 queries, 1024 keys, heads of 64".
static std::string describe(const br_attention_desc &desc) {
  return concat(desc.gradient ? "the gradient of attention" : "attention", " of ", desc.batch, " x ", desc.heads,
                " heads, ", desc.queries, " queries, ", desc.keys, " keys, heads of ", desc.size);
}

static void check(const br_attention_desc &desc, fe::error_t error) {
  if (error.is_bad())
    fail("cuDNN ", fe::detail::get_backend_version_string(), " does not support ", describe(desc), ": ",
         error.get_message(), kDecomposeAdvice);
}

// Prepares a serial order of sums if the model needs it; all attentions of a model have one order.
static void prepareOrder(const br_model &model) {
  auto isSerial = [](const br_attention_desc &desc) { return desc.gradient && desc.order == BR_ORDER_SERIAL; };
  if (std::none_of(model.attentions, model.attentions + model.n_attentions, isSerial))
    return;
  if (fe::detail::get_backend_version() < kFirstWithSerialOrder)
    fail("the model was compiled with --attention-order=serial, which needs cuDNN 9.25, but this is cuDNN ",
         fe::detail::get_backend_version_string(),
         ": install a newer cuDNN, or compile the graph with --attention-order=fixed or any");
  static const bool once = (allowNoScores(), true); // once per process: ranks may be threads
  (void)once;
}

static Plan makePlan(const br_attention_desc &desc, std::byte *arena, cudnnHandle_t handle) {
  if (desc.type != BR_BF16)
    fail("the compiled model is broken: ", describe(desc), " is not of bf16; compile it again");
  Plan plan{std::make_unique<fe::graph::Graph>(), arena + desc.workspace_offset};
  fe::graph::Graph &graph = *plan.graph;
  fillGraph(graph, desc);
  const int64_t cap = static_cast<int64_t>(desc.workspace_bytes);
  check(desc, graph.validate());
  check(desc, graph.build_operation_graph(handle));
  check(desc, graph.create_execution_plans({fe::HeurMode_t::A}));
  graph.deselect_workspace_greater_than(cap);
  if (fe::error_t error = graph.check_support(handle); error.is_bad())
    fail("cuDNN ", fe::detail::get_backend_version_string(), " does not support ", describe(desc), " with the ", cap,
         " bytes of workspace of the compiled model: ", error.get_message(),
         desc.gradient
             ? "; compile the graph with another --attention-order, or with --attention=decompose, which needs "
               "no cuDNN"
             : kDecomposeAdvice);
  check(desc, graph.build_plans(handle, fe::BuildPlanPolicy_t::HEURISTICS_CHOICE));
  int64_t needed = 0;
  check(desc, graph.get_workspace_size(needed));
  if (needed > cap)
    fail(describe(desc), " needs ", needed, " bytes of workspace, but the compiled model has ", cap, kDecomposeAdvice);
  return plan;
}

AttentionTable::Library::Library(const br_model &model, std::byte *arena, const GpuStream &stream) {
  loadCudnn();
  if (cudnnStatus_t status = fe::detail::create_handle(&handle); status != CUDNN_STATUS_SUCCESS)
    fail("the model calls attention of cuDNN, which does not start: ", fe::detail::get_error_string(status),
         kDecomposeAdvice);
  if (cudnnStatus_t status = fe::detail::set_stream(handle, stream.native()); status != CUDNN_STATUS_SUCCESS)
    fail("cuDNN does not take the stream: ", fe::detail::get_error_string(status), kDecomposeAdvice);
  prepareOrder(model);
  for (int32_t index = 0; index < model.n_attentions; ++index)
    plans.push_back(makePlan(model.attentions[index], arena, handle));
}

AttentionTable::Library::~Library() {
  plans.clear();
  fe::detail::destroy_handle(handle);
}

AttentionTable::AttentionTable(const br_model &model, std::byte *arena, const GpuStream &stream) {
  if (model.n_attentions == 0)
    return;
  // The frontend throws where it does not find a function.
  try {
    library = std::make_unique<Library>(model, arena, stream);
  } catch (const Error &) {
    throw;
  } catch (const std::exception &error) {
    fail("the model calls attention of cuDNN, which does not start: ", error.what(), kDecomposeAdvice);
  }
}

br_status AttentionTable::run(int32_t index, const AttentionPlaces &places) try {
  auto place = [](const void *pointer) { return const_cast<void *>(pointer); };
  Plan &plan = library->plans[index];
  std::unordered_map<int64_t, void *> tensors{
      {kQ, place(places.q)}, {kK, place(places.k)}, {kV, place(places.v)}, {kO, places.o}, {kLse, places.lse}};
  if (places.dout)
    tensors.insert({{kDout, place(places.dout)}, {kDq, places.dq}, {kDk, places.dk}, {kDv, places.dv}});
  fe::error_t error = plan.graph->execute(library->handle, tensors, plan.workspace);
  if (error.is_good())
    return BR_OK;
  message = concat("cuDNN: ", error.get_message());
  return BR_ERROR;
} catch (const std::exception &error) {
  message = concat("cuDNN: ", error.what());
  return BR_ERROR;
}

#else // without the header files

using namespace braid;

struct AttentionTable::Library {};

AttentionTable::AttentionTable(const br_model &model, std::byte *, const GpuStream &) {
  if (model.n_attentions > 0)
    fail("the model calls attention of cuDNN, but this program was built without the header files of cuDNN: install "
         "cuDNN 9, NVRTC and the Python package nvidia-cudnn-frontend and build again, or compile the graph with "
         "--attention=decompose");
}

br_status AttentionTable::run(int32_t, const AttentionPlaces &) {
  message = "there is no attention library";
  return BR_ERROR;
}

#endif

AttentionTable::~AttentionTable() = default;
