//===- PlanJson.cpp - plan.json -------------------------------------------===//

#include "lib/Memory/Report.h"
#include <nlohmann/json.hpp>

using namespace braid;
using Json = nlohmann::ordered_json;

static Json tensorJson(const PlanTensor &tensor) {
  return {{"name", tensor.name},     {"cause", tensor.cause}, {"bytes", tensor.bytes},
          {"offset", tensor.offset}, {"first", tensor.first}, {"last", tensor.last}};
}

/// The keys that describe one program.  The reported peak is what is allocated.
static void addProgram(Json &json, const ProgramPlan &program) {
  json["peak_bytes"] = program.arenaBytes;
  json["lower_bound_bytes"] = program.lowerBoundBytes;
  json["peak_op"] = program.peakOp;
  Json &causes = json["by_cause"] = Json::object();
  for (const CauseBytes &cause : program.byCause)
    causes[cause.cause] = cause.bytes;
  Json &tensors = json["tensors"] = Json::array();
  for (const PlanTensor &tensor : program.tensors)
    tensors.push_back(tensorJson(tensor));
}

std::string braid::planJson(const MemoryPlan &plan, llvm::ArrayRef<PhaseSeconds> phases) {
  Json json;
  json["arena_bytes"] = plan.arenaBytes;
  addProgram(json, plan.largest());
  // A program of one rank has no collectives.
  json["collectives"] = Json::array();
  Json &seconds = json["compile_seconds"] = Json::object();
  for (const PhaseSeconds &phase : phases)
    seconds[phase.phase] = phase.seconds;
  Json &programs = json["programs"] = Json::object();
  for (const ProgramPlan &program : plan.programs) {
    Json &entry = programs[program.name] = Json::object();
    entry["actions"] = program.numActions;
    addProgram(entry, program);
  }
  // Names come from graphs and may hold any bytes.
  return json.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
}
