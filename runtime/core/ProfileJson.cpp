//===- ProfileJson.cpp - a profile as JSON --------------------------------===//

#include "core/ProfileJson.h"

#include "base/File.h"

using namespace braid;
using Json = nlohmann::ordered_json;

// Adds FLOPs, bytes and, if known, "limit", the lower bound in seconds.
static void addWork(Json &row, double flops, double bytes, double limit) {
  row["flops"] = flops;
  row["bytes"] = bytes;
  if (limit > 0)
    row["limit"] = limit;
}

static Json actionJson(const Profile::Program &program, size_t number, const MachineRates &rates) {
  const br_action_desc &action = program.program->actions[number];
  Json row = {{"name", action.name}, {"seconds", program.seconds[number] / static_cast<double>(program.runs)}};
  if (program.matmuls[number] >= 0)
    row["product"] = program.matmuls[number];
  row["fastest"] = program.fastest[number];
  row["op"] = action.op;
  row["kernel"] = action.kernel;
  if (action.unit)
    row["unit"] = action.unit;
  if (action.phase)
    row["phase"] = action.phase;
  addWork(row, action.matrix_flops + action.vector_flops, static_cast<double>(action.bytes), rates.limitOf(action));
  return row;
}

static Json sumsJson(const Profile::Program &program, Profile::Key key, const MachineRates &rates) {
  Json rows = Json::array();
  for (const Profile::Sums &sums : Profile::sumsBy(program, key, rates)) {
    Json row = {{"name", sums.name}, {"actions", sums.actions}, {"seconds", sums.seconds}, {"fastest", sums.fastest}};
    addWork(row, sums.flops, sums.bytes, sums.limit);
    rows.push_back(std::move(row));
  }
  return rows;
}

static Json programJson(const Profile::Program &program, const MachineRates &rates) {
  Json actions = Json::array();
  for (size_t i = 0; i < program.seconds.size(); ++i)
    actions.push_back(actionJson(program, i, rates));
  return {{"program", program.program->name},
          {"runs", program.runs},
          {"seconds", program.total() / static_cast<double>(program.runs)},
          {"actions", std::move(actions)},
          {"kernels", sumsJson(program, &br_action_desc::kernel, rates)},
          {"ops", sumsJson(program, &br_action_desc::op, rates)},
          {"units", sumsJson(program, &br_action_desc::unit, rates)},
          {"phases", sumsJson(program, &br_action_desc::phase, rates)}};
}

Json braid::jsonOf(const Profile &profile, const MachineRates &rates) {
  Json root = Json::object();
  if (rates.bytesPerSecond > 0)
    root["rates"] = {{"f32_flops", rates.matrixFlops},
                     {"bf16_flops", rates.halfMatrixFlops},
                     {"bytes_per_second", rates.bytesPerSecond}};
  Json &programs = root["programs"] = Json::array();
  for (const Profile::Program &program : profile.programs())
    if (program.runs > 0)
      programs.push_back(programJson(program, rates));
  return root;
}

void braid::writeProfile(const Profile &profile, const Json &json) {
  const std::string text = json.dump(1) + "\n";
  File::createForWriting(profile.path()).write(text.data(), text.size());
}
