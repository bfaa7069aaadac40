//===- ActionsJson.cpp - actions.json ---------------------------*- C++ -*-===//
//
// Predictions of the cost model for each action, for tools that predict a step or compare it with a measured one.
// Seconds hold for the GPU in the target's row. They are listed by part, so that they can be scaled to another GPU.
//
//===----------------------------------------------------------------------===//

#include "compiler/Report/Report.h"
#include "dialects/Comm/Sharding.h"
#include "dialects/Comm/Timing.h"
#include "dialects/TG/Facts.h"
#include "lib/Cost/Machine.h"
#include "lib/Memory/ContentNames.h"
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

/// Returns the JSON of a collective or of a copy from the host. Computing waits for it, so its time counts for no
/// action.
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

/// Returns the names of the values that an action writes into transient buffers, by buffer offset.
static Json writtenValuesJson(exec::ActionOpInterface action, const llvm::StringMap<int64_t> &offsets,
                              const ContentNames &names) {
  Json makes = Json::object();
  for (auto [number, out] : llvm::enumerate(action.getActionOuts()))
    if (auto ref = out.getDefiningOp<exec::RefOp>(); ref && offsets.contains(ref.getBuffer()))
      makes.emplace(std::to_string(offsets.lookup(ref.getBuffer())), names.nameOf(action, number));
  return makes;
}

static Json programJson(exec::ProgramOp program, const ComputeRates &rates) {
  Json actions = Json::array();
  ContentNames names(program);
  llvm::StringMap<int64_t> offsets;
  for (auto buffer : program.getBody().getOps<exec::BufferOp>())
    if (!buffer.getIo() && !buffer.getHost())
      offsets[buffer.getSymName()] = buffer.getOffset();
  for (auto action : program.getBody().getOps<exec::ActionOpInterface>()) {
    actions.push_back(actionJson(action, rates));
    actions.back()["makes"] = writtenValuesJson(action, offsets, names);
  }
  return actions;
}

/// Returns the type of the whole tensor, of which a rank may hold a part.
static RankedTensorType wholeOf(Operation *op, Type type) {
  auto whole = op->getAttrOfType<TypeAttr>(comm::CommDialect::kGlobal);
  return cast<RankedTensorType>(whole ? whole.getValue() : type);
}

/// Returns the shapes of a program's inputs, by role, for all ranks together.
static Json inputsJson(exec::ProgramOp program) {
  Json inputs = Json::object();
  for (auto buffer : program.getBody().getOps<exec::BufferOp>())
    if (buffer.getIo() == "input")
      inputs[buffer.getRole().value_or(buffer.getName()).str()] = wholeOf(buffer, *buffer.getType()).getShape().vec();
  return inputs;
}

/// Returns the number of trained scalars, for all ranks together.
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
