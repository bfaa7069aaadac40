//===- ActionsJson.cpp - actions.json ---------------------------*- C++ -*-===//
//
// What the cost model knows of each action, for tools that predict a step or hold a
// measured one against it.  Seconds are those of the GPU that the target's row describes:
// the parts are apart, so that they can be scaled to another.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Sharding.h"
#include "dialects/Comm/Timing.h"
#include "dialects/TG/Facts.h"
#include "lib/Cost/Machine.h"
#include "lib/Report/Report.h"
#include "llvm/ADT/StringMap.h"
#include <nlohmann/json.hpp>

using namespace mlir;
using namespace braid;
using Json = nlohmann::ordered_json;

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

static std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static void addFacts(Json &json, exec::ActionOpInterface action) {
  if (tg::FactsAttr facts = tg::factsOf(action)) {
    json["phase"] = tg::stringifyPhase(facts.getPhase()).str();
    if (StringAttr unit = tg::unitOf(facts))
      json["unit"] = unit.str();
  }
}

/// Computing waits for a collective, or for a copy from the host; what these do meanwhile is no time of
/// an action's.
static Json collectiveJson(exec::ActionOpInterface action) {
  Json json{{"action", action.getActionName()}, {"kind", comm::copyOf(action) ? "copy" : "collective"}};
  if (std::optional<comm::Timing> timing = comm::timingOf(action)) {
    json["link_s"] = timing->predicted;
    json["exposed_s"] = timing->exposed;
  }
  return json;
}

static Json actionJson(exec::ActionOpInterface action, const ComputeRates &rates) {
  bool isElsewhere = action.getActionBegin() != action || action.getActionEnd() != action;
  if (isElsewhere || isa<comm::QueuedOpInterface>(action.getOperation()))
    return collectiveJson(action);
  exec::ActionCost cost = action.getActionCost();
  ActionSeconds seconds = rates.parts(action);
  Json json{{"action", action.getActionName()}, {"kind", action->getName().stripDialect().str()}};
  addFacts(json, action);
  if (!action.getActionIns().empty())
    json["type"] = textOf(exec::tensorOf(action.getActionIns()[0].getType()).getElementType());
  json.update(Json{{"matrix_flops", cost.matrixFlops},
                   {"masked_flops", cost.maskedFlops},
                   {"vector_flops", cost.vectorFlops},
                   {"bytes_read", cost.bytesRead},
                   {"bytes_written", cost.bytesWritten},
                   {"launch_s", seconds.launch},
                   {"matrix_s", seconds.matrix},
                   {"vector_s", seconds.vector},
                   {"memory_s", seconds.memory},
                   {"scratch_s", seconds.scratch},
                   {"predicted_s", seconds.total()}});
  return json;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// What an action writes into transient buffers: names by where the buffers begin.
static Json makesJson(exec::ActionOpInterface action, const llvm::StringMap<int64_t> &offsets) {
  Json makes = Json::object();
  for (auto [number, out] : llvm::enumerate(action.getActionOuts()))
    if (auto ref = out.getDefiningOp<exec::RefOp>(); ref && offsets.contains(ref.getBuffer()))
      makes.emplace(std::to_string(offsets.lookup(ref.getBuffer())), contentName(action, number));
  return makes;
}

static Json programJson(exec::ProgramOp program, const ComputeRates &rates) {
  Json actions = Json::array();
  llvm::StringMap<int64_t> offsets;
  for (auto buffer : program.getBody().getOps<exec::BufferOp>())
    if (!buffer.getIo() && !buffer.getHost())
      offsets[buffer.getSymName()] = buffer.getOffset();
  for (auto action : program.getBody().getOps<exec::ActionOpInterface>()) {
    actions.push_back(actionJson(action, rates));
    actions.back()["makes"] = makesJson(action, offsets);
  }
  return actions;
}

/// Of what ranks hold parts of, the type of the whole.
static RankedTensorType wholeOf(Operation *op, Type type) {
  auto whole = op->getAttrOfType<TypeAttr>(comm::CommDialect::kGlobal);
  return cast<RankedTensorType>(whole ? whole.getValue() : type);
}

/// The shapes of what a program is fed, by role; of all ranks together.
static Json inputsJson(exec::ProgramOp program) {
  Json inputs = Json::object();
  for (auto buffer : program.getBody().getOps<exec::BufferOp>())
    if (buffer.getIo() == "input")
      inputs[buffer.getRole().value_or(buffer.getName()).str()] = wholeOf(buffer, *buffer.getType()).getShape().vec();
  return inputs;
}

/// The numbers that the model learns; of all ranks together.
static int64_t countParameters(ModuleOp module) {
  int64_t count = 0;
  for (auto tensor : module.getOps<exec::TensorOp>())
    if (isa<tg::ParamAttr>(tensor.getValue()))
      count += wholeOf(tensor, tensor.getType()).getNumElements();
  return count;
}

static Json cardJson(const GpuInfo &gpu) {
  return {{"name", gpu.card.str()},
          {"bytes_per_second", gpu.bytesPerSecond},
          {"bf16_flops", gpu.bf16Flops},
          {"f32_flops", gpu.f32Flops}};
}

std::string braid::actionsJson(ModuleOp module, const TargetInfo &target, int64_t microbatches) {
  Json json{{"target", targetText(module)}};
  if (target.gpu)
    json["card"] = cardJson(*target.gpu);
  json["microbatches"] = microbatches;
  auto meshes = module.getOps<comm::MeshOp>();
  json["ranks"] = meshes.empty() ? 1 : comm::Mesh(*meshes.begin()).getNumRanks();
  json["parameters"] = countParameters(module);
  Json &programs = json["programs"] = Json::object();
  for (auto program : module.getOps<exec::ProgramOp>())
    programs[program.getSymName()] = {{"inputs", inputsJson(program)},
                                      {"actions", programJson(program, machineOf(module)->compute)}};
  return json.dump(1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
}
