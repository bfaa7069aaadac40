//===- Compare.cpp - memory and time of each stage of ZeRO ----------------===//

#include "compiler/Driver/Compare.h"
#include "compiler/Driver/ParallelOptions.h"
#include "lib/Memory/Size.h"
#include "lib/Target/TargetInfo.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include <nlohmann/json.hpp>

using namespace mlir;
using namespace braid;
using Json = nlohmann::ordered_json;

/// Returns `MemAvailable` of /proc/meminfo in bytes, or none if there is no such file.
static std::optional<int64_t> availableBytes() {
  auto file = llvm::MemoryBuffer::getFileAsStream("/proc/meminfo");
  if (!file)
    return std::nullopt;
  auto [before, after] = (*file)->getBuffer().split("MemAvailable:");
  int64_t kibibytes;
  if (after.ltrim().split(' ').first.getAsInteger(10, kibibytes))
    return std::nullopt;
  return kibibytes * 1024;
}

/// Returns `limit` if there is one. Else returns a rank's share of the memory available on this host, assuming that all
/// `ranks` run here.
static RankMemory memoryOfRank(std::optional<int64_t> limit, int64_t ranks) {
  if (limit)
    return {*limit, "the memory limit of a rank"};
  std::optional<int64_t> available = availableBytes();
  if (!available)
    return {INT64_MAX, "no --memory-limit was given, and the available memory of this host is unknown"};
  return {*available / ranks, "the share of each of " + std::to_string(ranks) + " ranks in the " +
                                  formatSize(*available) + " available on this host; --memory-limit= overrides it"};
}

FailureOr<Comparison> braid::compareStages(ModuleOp module, const DriverOptions &options, PhaseClock &clock) {
  Comparison comparison;
  auto plan = [&](const DriverOptions &stage) -> FailureOr<Report> {
    OwningOpRef<ModuleOp> copy = module.clone();
    if (failed(runPhases(*copy, stage, Phase::Prepare, {}, &clock)))
      return failure();
    return readReport(*copy, targetOf(*copy)->alignment, options.accumulate);
  };
  for (int64_t zero = 0; zero <= 3; ++zero) {
    FailureOr<Report> stage = plan(optionsOfStage(options, zero));
    if (failed(stage))
      return failure();
    comparison.stages.push_back({zero, std::move(*stage)});
  }
  // --strategy=dataparallel has one axis, and its ranks have no microbatches of their own.
  auto isShared = [](const MeshAxis &axis) { return axis.size > 1; };
  bool mayHaveRoot = llvm::count_if(options.parallel.mesh, isShared) == 1 &&
                     numRanks(options.parallel, batchAxes(options.parallel)) > 1 &&
                     options.parallel.along(AxisUse::Experts).empty() && options.accumulate == 1;
  if (mayHaveRoot) {
    DriverOptions classic = optionsOfStage(options, 0);
    classic.parallel.strategy = Strategy::DataParallel;
    applyRootStrategy(classic.parallel);
    FailureOr<Report> root = plan(classic);
    if (failed(root))
      return failure();
    comparison.rootParallel = std::move(*root);
  }
  comparison.memory = memoryOfRank(options.memoryLimit(), comparison.stages.front().report.traffic.ranks);
  return comparison;
}

std::optional<int64_t> Comparison::lowestFittingStage() const {
  for (const ComparedStage &stage : stages)
    if (stage.report.plan.arenaBytes <= memory.bytes)
      return stage.zero;
  return std::nullopt;
}

static int64_t persistentBytes(const MemoryPlan &plan) {
  int64_t bytes = 0;
  for (const PersistentBytes &held : plan.persistent)
    bytes += held.bytes;
  return bytes;
}

static std::string nameOf(int64_t zero) {
  static const char *names[] = {"DDP", "ZeRO-1", "ZeRO-2", "ZeRO-3"};
  return "--zero=" + std::to_string(zero) + " " + names[zero];
}

static void printRow(llvm::raw_ostream &stream, llvm::StringRef name, const Report &report, const RankMemory &memory) {
  auto seconds = [](std::optional<double> value) { return value ? formatSeconds(*value) : std::string("-"); };
  stream << llvm::formatv("{0,-16} {1,10} {2,10} {3,10} {4,10} {5,10}  {6}\n", name, formatSize(report.plan.arenaBytes),
                          formatSize(persistentBytes(report.plan)), formatSize(report.traffic.movedBytes),
                          seconds(report.traffic.predictedSeconds), seconds(report.traffic.exposedSeconds),
                          report.plan.arenaBytes <= memory.bytes ? "yes" : "no");
}

void braid::printComparison(llvm::raw_ostream &stream, const Comparison &comparison) {
  stream << llvm::formatv("{0,-16} {1,10} {2,10} {3,10} {4,10} {5,10}  {6}\n", "a rank's", "peak", "persistent",
                          "moved", "step", "exposed", "fits");
  for (const auto &[zero, report] : comparison.stages)
    printRow(stream, nameOf(zero), report, comparison.memory);
  if (comparison.rootParallel)
    printRow(stream, "data parallel", *comparison.rootParallel, comparison.memory);
  std::optional<int64_t> lowest = comparison.lowestFittingStage();
  if (lowest)
    stream << "the lowest stage that fits is --zero=" << *lowest;
  else
    stream << "no stage fits";
  if (comparison.memory.bytes == INT64_MAX)
    stream << ": " << comparison.memory.reason << "\n";
  else
    stream << " into " << formatSize(comparison.memory.bytes) << ", " << comparison.memory.reason << "\n";
}

static Json rowJson(const Report &report, const RankMemory &memory) {
  auto seconds = [](std::optional<double> value) { return value ? Json(*value) : Json(nullptr); };
  return {{"peak_bytes", report.plan.arenaBytes},
          {"persistent_bytes", persistentBytes(report.plan)},
          {"bytes_moved", report.traffic.movedBytes},
          {"predicted_s", seconds(report.traffic.predictedSeconds)},
          {"exposed_s", seconds(report.traffic.exposedSeconds)},
          {"fits", report.plan.arenaBytes <= memory.bytes}};
}

std::string braid::comparisonJson(const Comparison &comparison) {
  Json json;
  Json &stages = json["stages"] = Json::array();
  for (const auto &[zero, report] : comparison.stages) {
    stages.push_back({{"zero", zero}});
    stages.back().update(rowJson(report, comparison.memory));
  }
  if (comparison.rootParallel)
    json["dataparallel"] = rowJson(*comparison.rootParallel, comparison.memory);
  bool isKnown = comparison.memory.bytes != INT64_MAX;
  json["memory_bytes"] = isKnown ? Json(comparison.memory.bytes) : Json(nullptr);
  json["memory"] = comparison.memory.reason;
  std::optional<int64_t> lowest = comparison.lowestFittingStage();
  json["lowest_that_fits"] = lowest ? Json(*lowest) : Json(nullptr);
  return json.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
}
