//===- Info.cpp - print the compiled plan of a model ----------------------===//
//
// `info --json` prints plan.json as the compiler wrote it; without --json, a table for people. If plan.json
// lacks a key, only its line is missing from the table.
//
//===----------------------------------------------------------------------===//

#include "base/Error.h"
#include "base/Format.h"
#include "base/Json.h"
#include "core/Mesh.h"
#include "core/Model.h"
#include "core/TensorPart.h"
#include "train/Commands.h"

#include <algorithm>
#include <cstdio>
#include <vector>

using namespace braid;
using nlohmann::ordered_json;

namespace {

ordered_json parsePlan(const br_model &model) {
  ordered_json plan = parseConfig(model.plan_json ? model.plan_json : "", "the model's plan: ");
  return plan.is_object() ? plan : ordered_json::object();
}

uint64_t number(const ordered_json &object, const char *key) {
  auto at = object.find(key);
  return at != object.end() && at->is_number() ? at->get<uint64_t>() : 0;
}

std::string word(const ordered_json &object, const char *key) {
  auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

void printBytes(const char *label, uint64_t bytes) {
  std::printf("  %-24s %16s  %s\n", label, formatCount(bytes).c_str(), formatBytes(bytes).c_str());
}

void printModel(const br_model &model) {
  uint64_t parameters = 0;
  for (const br_tensor &t : tensorsOf(model))
    if (t.category == BR_PARAMETERS)
      parameters += numElements(t);
  std::printf("model %s\n", model.name);
  std::printf("  %-24s %16s\n", "parameters", formatCount(parameters).c_str());
  std::printf("  %-24s %16d\n", "microbatches a step", model.accumulate);
  std::printf("  %-24s %16s\n", "vocabulary", formatCount(model.vocab_size).c_str());
  if (isForDevice(model))
    std::printf("  %-24s %s\n", "compiled for", model.target);
  else
    std::printf("  %-24s %s\n", "compiled for",
                model.cpu_features && *model.cpu_features ? model.cpu_features : "any processor");
  for (int32_t i = 0; i < model.n_programs; ++i) {
    const br_program &program = model.programs[i];
    std::printf("  program %s:", program.name);
    for (const br_io &io : inputsOf(program)) {
      std::printf(" %s", io.name);
      for (int32_t d = 0; d < io.rank; ++d)
        std::printf("%s%lld", d ? "x" : "[", static_cast<long long>(io.shape[d]));
      std::printf("%s", io.rank ? "]" : "");
    }
    std::printf(" ->");
    for (const br_io &io : resultsOf(program))
      std::printf(" %s", io.name);
    std::printf("\n");
  }
}

void printTensors(const ordered_json &plan, int64_t limit) {
  auto at = plan.find("tensors");
  if (at == plan.end() || !at->is_array() || limit <= 0)
    return;
  std::vector<const ordered_json *> tensors;
  for (const ordered_json &tensor : *at)
    if (tensor.is_object())
      tensors.push_back(&tensor);
  std::stable_sort(tensors.begin(), tensors.end(),
                   [](auto *a, auto *b) { return number(*a, "bytes") > number(*b, "bytes"); });
  tensors.resize(std::min<size_t>(tensors.size(), limit));
  auto action = [](const ordered_json &tensor, const char *key) {
    auto at = tensor.find(key);
    const int64_t number = at != tensor.end() && at->is_number() ? at->get<int64_t>() : 0;
    return number < 0 ? std::string("start") : std::to_string(number); // live before the first op
  };
  std::printf("largest tensors (bytes, category, live from op to op)\n");
  for (const ordered_json *tensor : tensors)
    std::printf("  %16s  %-16s %6s - %-6s %s\n", formatCount(number(*tensor, "bytes")).c_str(),
                word(*tensor, "category").c_str(), action(*tensor, "first").c_str(), action(*tensor, "last").c_str(),
                word(*tensor, "name").c_str());
}

} // namespace

// Returns the plan entry of this model if ranks run different programs, else null.
static const ordered_json *kindOf(const ordered_json &plan, const br_model &model) {
  auto kinds = plan.find("kinds");
  if (isOfAllRanks(model) || kinds == plan.end() || !kinds->is_array())
    return nullptr;
  for (const ordered_json &kind : *kinds)
    if (kind.is_object() && kind.contains("coordinates") &&
        kind["coordinates"] ==
            ordered_json(std::vector<int32_t>(model.coordinates, model.coordinates + model.n_coordinates)))
      return &kind;
  return nullptr;
}

uint64_t braid::reportedPeak(const br_model &model) {
  const ordered_json plan = parsePlan(model), *kind = kindOf(plan, model);
  uint64_t peak = kind ? number(*kind, "arena_bytes") : number(plan, "peak_bytes");
  return peak ? peak : model.arena_bytes;
}

uint64_t braid::reportedHostBytes(const br_model &model) {
  const ordered_json plan = parsePlan(model);
  auto host = plan.find("host");
  return host != plan.end() && host->is_object() ? number(*host, "bytes") : 0;
}

// Ranks with different programs have different matmuls.
int braid::runMatmuls(const br_model &model, const MatmulsOptions &options) {
  for (const br_model *one = &model; one; one = one->others)
    listMatmuls(checked(*one), options.device);
  return 0;
}

int braid::runInfo(const br_model &model, const InfoOptions &options) {
  if (options.json) {
    std::printf("%s\n", model.plan_json ? model.plan_json : "{}");
    return 0;
  }
  ordered_json plan = parsePlan(model);
  printModel(model);
  std::printf("memory\n");
  printBytes("arena", model.arena_bytes);
  if (model.host_bytes > 0)
    printBytes("pinned memory of the host", model.host_bytes);
  for (const br_model *other = model.others; other; other = other->others)
    printBytes(("arena of " + nameOfRanks(*other)).c_str(), other->arena_bytes);
  // The peak and the lines below are of the program and the rank that need the most memory.
  const uint64_t most = number(plan, "peak_bytes"), peak = most ? most : model.arena_bytes;
  printBytes("peak", peak);
  if (uint64_t bound = number(plan, "lower_bound_bytes")) {
    printBytes("lower bound", bound);
    std::printf("  %-24s %16.4f\n", "peak / lower bound", static_cast<double>(peak) / static_cast<double>(bound));
  }
  if (std::string op = word(plan, "peak_op"); !op.empty())
    std::printf("  %-24s %s\n", "peak at", op.c_str());
  if (auto categories = plan.find("by_category"); categories != plan.end() && categories->is_object()) {
    std::printf("by category (each category's own peak)\n");
    for (const auto &[category, bytes] : categories->items())
      if (bytes.is_number())
        printBytes(category.c_str(), bytes.get<uint64_t>());
  }
  printTensors(plan, options.tensors);
  return 0;
}
