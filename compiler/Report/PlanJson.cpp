//===- PlanJson.cpp - plan.json -------------------------------------------===//

#include "compiler/Report/Report.h"
#include <nlohmann/json.hpp>

using namespace braid;
using Json = nlohmann::ordered_json;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static std::string categoryName(exec::Category category) { return exec::stringifyCategory(category).str(); }

static Json tensorJson(const PlanTensor &tensor) {
  Json json{{"name", tensor.name},   {"category", categoryName(tensor.category)},
            {"bytes", tensor.bytes}, {"offset", tensor.offset},
            {"first", tensor.first}, {"last", tensor.last}};
  if (tensor.paddingBytes > 0)
    json["padding_bytes"] = tensor.paddingBytes;
  return json;
}

/// Adds the keys that describe one program. The reported peak is the allocated size.
static void addProgram(Json &json, const ProgramPlan &program) {
  json["peak_bytes"] = program.arenaBytes;
  json["lower_bound_bytes"] = program.lowerBoundBytes;
  json["peak_action"] = program.peakAction;
  json["peak_op"] = program.peakOp;
  if (program.paddingBytes > 0)
    json["padding_bytes"] = program.paddingBytes;
  Json &categories = json["by_category"] = Json::object();
  for (const CategoryBytes &category : program.byCategory)
    categories[categoryName(category.category)] = category.bytes;
  Json &atPeak = json["at_peak"] = Json::object();
  for (const CategoryBytes &category : program.atPeak)
    atPeak[categoryName(category.category)] = category.bytes;
  json["waiting_gradients"] = {{"bytes", program.waitingGradientBytes}, {"for_norm", program.waitsForNorm}};
  Json &tensors = json["tensors"] = Json::array();
  for (const PlanTensor &tensor : program.tensors)
    tensors.push_back(tensorJson(tensor));
}

/// Returns the tensors in the host's memory, which is allocated once and pinned.
static Json hostJson(const MemoryPlan &plan) {
  Json json{{"bytes", plan.hostBytes}};
  Json &tensors = json["tensors"] = Json::array();
  for (const PlanTensor &tensor : plan.onHost)
    tensors.push_back({{"name", tensor.name},
                       {"category", categoryName(tensor.category)},
                       {"bytes", tensor.bytes},
                       {"offset", tensor.offset}});
  return json;
}

static Json persistentJson(llvm::ArrayRef<PersistentBytes> persistent) {
  Json json = Json::object();
  for (const PersistentBytes &held : persistent)
    json[categoryName(held.category)] = {{"bytes", held.bytes}, {"padding_bytes", held.paddingBytes}};
  return json;
}

static Json kindsJson(llvm::ArrayRef<KindPlan> kinds) {
  Json json = Json::array();
  for (const KindPlan &kind : kinds) {
    json.push_back({{"axis", kind.axis},
                    {"coordinates", kind.coordinates},
                    {"arena_bytes", kind.arenaBytes},
                    {"persistent", persistentJson(kind.persistent)}});
    if (kind.hostBytes > 0)
      json.back()["host_bytes"] = kind.hostBytes;
  }
  return json;
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

static Json secondsJson(std::optional<double> seconds) { return seconds ? Json(*seconds) : Json(nullptr); }

static Json collectiveJson(const std::string &program, const CollectiveTraffic &collective) {
  Json json{{"program", program},
            {"op", collective.op},
            {"axes", collective.axes},
            {"ranks", collective.ranks},
            {"dtype", collective.dtype},
            {"bytes", collective.bytes},
            {"bytes_moved", collective.movedBytes},
            {"predicted_s", secondsJson(collective.predictedSeconds)},
            {"exposed_s", secondsJson(collective.exposedSeconds)},
            {"waits_for", collective.waitsFor},
            {"first", collective.start},
            {"last", collective.wait},
            {"tensors", collective.tensors}};
  if (!collective.reduction.empty())
    json["reduction"] = collective.reduction;
  if (collective.unit)
    json["unit"] = *collective.unit;
  return json;
}

static Json copyJson(const HostCopyReport &copy) {
  return {{"program", copy.program},
          {"op", copy.isToHost ? "copy_to_host" : "copy_from_host"},
          {"bytes", copy.bytes},
          {"predicted_s", copy.predictedSeconds},
          {"exposed_s", copy.exposedSeconds},
          {"waits_for", copy.waitsFor},
          {"first", copy.first},
          {"last", copy.last},
          {"tensors", copy.tensors}};
}

/// Adds totals of a program or of a step.
template <class T> static void addTotals(Json &json, const T &traffic) {
  json["bytes_moved"] = traffic.movedBytes;
  json["link_s"] = traffic.linkSeconds;
  json["predicted_s"] = secondsJson(traffic.predictedSeconds);
  json["exposed_s"] = secondsJson(traffic.exposedSeconds);
}

static void addMesh(Json &json, const Traffic &traffic) {
  Json &mesh = json["mesh"] = Json::object();
  for (const Traffic::Axis &axis : traffic.mesh)
    mesh[axis.name] = axis.size;
  json["ranks"] = traffic.ranks;
  Json &step = json["step"] = Json::object();
  step["microbatches"] = traffic.microbatches;
  addTotals(step, traffic);
  if (!traffic.accumulators)
    return;
  const AccumulatorTraffic &accumulators = *traffic.accumulators;
  const char *names[] = {"unreduced", "reduced_each_microbatch"};
  step["accumulators"] = {
      {"are", names[accumulators.areSharded]},
      {names[accumulators.areSharded],
       {{"bytes_held", accumulators.heldBytes}, {"bytes_moved", accumulators.movedBytes}}},
      {names[!accumulators.areSharded],
       {{"bytes_held", accumulators.otherHeldBytes}, {"bytes_moved", accumulators.otherMovedBytes}}}};
}

//===----------------------------------------------------------------------===//
// Values kept for backward, and replays
//===----------------------------------------------------------------------===//

/// Returns the values that a program keeps; empty if there are none.
static Json keptJson(const Report &report, const std::string &program) {
  Json json = Json::array();
  auto kept = llvm::find_if(report.kept, [&](const KeptReport &candidate) { return candidate.program == program; });
  if (kept == report.kept.end())
    return json;
  for (const UnitKeptValues &equal : kept->units) {
    Json values = Json::array();
    for (const KeptValue &value : equal.values)
      values.push_back({{"name", value.name}, {"bytes", value.bytes}});
    json.push_back({{"units", equal.units},
                    {"bytes", equal.bytes()},
                    {"passed_on_bytes", equal.passedOnBytes},
                    {"values", std::move(values)}});
  }
  return json;
}

std::string braid::replaysJson(llvm::ArrayRef<ReplayReport> points) {
  Json json = Json::array();
  for (const ReplayReport &point : points)
    json.push_back({{"bytes_per_second", point.bytesPerSecond ? Json(*point.bytesPerSecond) : Json(nullptr)},
                    {"units", point.units ? Json(*point.units) : Json(nullptr)},
                    {"values", point.values},
                    {"arena_bytes", point.arenaBytes},
                    {"activation_bytes", point.activationBytes},
                    {"predicted_s", point.seconds},
                    {"chosen", point.isChosen}});
  return points.empty() ? "" : json.dump();
}

//===----------------------------------------------------------------------===//
// Pipelines
//===----------------------------------------------------------------------===//

static Json pipelineJson(const PipelineReport &pipeline) {
  Json stages = Json::array(), ranks = Json::array();
  for (const StageReport &stage : pipeline.stages)
    stages.push_back({{"rank", stage.rank},
                      {"units", stage.units},
                      {"forward_s", stage.forwardSeconds},
                      {"backward_s", stage.backwardSeconds},
                      {"saved_bytes", stage.savedBytes},
                      {"slots", stage.slots},
                      {"activation_bytes", stage.activationBytes},
                      {"gradient_bytes", stage.gradientBytes}});
  for (const PipelineRankReport &rank : pipeline.ranks)
    ranks.push_back({{"arena_bytes", rank.arenaBytes},
                     {"bytes_moved", rank.movedBytes},
                     {"idle", rank.idle},
                     {"microbatches_held", rank.held}});
  return {{"axis", pipeline.axis},     {"microbatches", pipeline.microbatches}, {"table_s", pipeline.tableSeconds},
          {"bubble", pipeline.bubble}, {"stages", std::move(stages)},           {"ranks", std::move(ranks)}};
}

//===----------------------------------------------------------------------===//
// The whole plan
//===----------------------------------------------------------------------===//

std::string braid::planJson(const Report &report, llvm::ArrayRef<PhaseSeconds> phases) {
  const MemoryPlan &plan = report.plan;
  Json json;
  if (report.card)
    json["card"] = {{"name", report.card->card.str()}, {"memory_bytes", report.card->memoryBytes}};
  json["arena_bytes"] = plan.arenaBytes;
  json["predicted_step_s"] = report.stepSeconds;
  addProgram(json, plan.largest());
  json["persistent"] = persistentJson(plan.persistent);
  if (plan.hostBytes > 0)
    json["host"] = hostJson(plan);
  if (!plan.kinds.empty())
    json["kinds"] = kindsJson(plan.kinds);
  if (report.pipeline)
    json["pipeline"] = pipelineJson(*report.pipeline);
  Json &collectives = json["collectives"] = Json::array();
  for (const ProgramTraffic &program : report.traffic.programs)
    for (const CollectiveTraffic &collective : program.collectives)
      collectives.push_back(collectiveJson(program.name, collective));
  for (const HostCopyReport &copy : report.copies)
    json["copies"].push_back(copyJson(copy));
  if (!report.traffic.mesh.empty())
    addMesh(json, report.traffic);
  if (report.attention)
    json["attention"] = {{"order", exec::stringifySumOrder(report.attention->order).str()},
                         {"workspace_bytes", report.attention->workspaceBytes}};
  if (Json replays = Json::parse(report.replaysJson, nullptr, /*allow_exceptions=*/false); replays.is_array())
    json["recompute"] = replays;
  Json &seconds = json["compile_seconds"] = Json::object();
  for (const PhaseSeconds &phase : phases)
    seconds[phase.phase] = phase.seconds;
  Json &programs = json["programs"] = Json::object();
  for (const ProgramPlan &program : plan.programs) {
    Json &entry = programs[program.name] = Json::object();
    entry["actions"] = program.numActions;
    if (const ProgramTraffic *traffic = report.traffic.program(program.name))
      addTotals(entry, *traffic);
    entry["kept_for_backward"] = keptJson(report, program.name);
    for (const WaitingActivations &waiting : report.waiting)
      if (waiting.program == program.name)
        entry["waiting_on_host"] = {
            {"count", waiting.count}, {"bytes", waiting.bytes}, {"away_at_peak_bytes", waiting.offloadedBytesAtPeak}};
    addProgram(entry, program);
  }
  // Names come from graphs and may contain any bytes.
  return json.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
}
