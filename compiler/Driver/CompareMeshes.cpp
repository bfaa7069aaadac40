//===- CompareMeshes.cpp - cost of each mesh of as many ranks -------------===//

#include "compiler/Driver/CompareMeshes.h"
#include "compiler/Driver/CheckGraph.h"
#include "compiler/Driver/LowerGraph.h"
#include "compiler/Driver/ParallelOptions.h"
#include "dialects/Interfaces/Routing.h"
#include "lib/Memory/Size.h"
#include "lib/Target/TargetInfo.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <nlohmann/json.hpp>

using namespace mlir;
using namespace braid;
using Json = nlohmann::ordered_json;

/// Returns the text after `--mesh=` in the command line of this compilation.
static std::string nameOf(StringRef mesh, std::optional<int64_t> zero) {
  return mesh.str() + (zero ? " --zero=" + std::to_string(*zero) : "");
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

namespace {
/// Collects the diagnostics of one candidate, and keeps its first error.
class FirstError {
public:
  explicit FirstError(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (text.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
            text = diagnostic.str();
          return success();
        }) {}
  std::string text;

private:
  ScopedDiagnosticHandler handler;
};
} // namespace

/// Returns the plan, or an error with the reason if there is none.
static llvm::Expected<Report> plan(ModuleOp module, DriverOptions candidate, PhaseClock &clock) {
  if (llvm::Error error = resolveParallelOptions(candidate))
    return error;
  FirstError error(module.getContext());
  OwningOpRef<ModuleOp> copy = module.clone();
  auto lower = [&] {
    PhaseClock untimed(/*verbose=*/false);
    return failure(failed(checkInputs(*copy->getOps<func::FuncOp>().begin(), candidate)) ||
                   failed(lowerGraph(*copy, candidate, untimed)));
  };
  if (failed(clock.time(nameOf(candidate.parallel.meshText, candidate.parallel.zero), lower)))
    return llvm::createStringError(error.text);
  return readReport(*copy, targetOf(*copy)->alignment, candidate.accumulate);
}

static void addRefused(MeshComparison &comparison, const std::string &mesh, std::optional<int64_t> zero,
                       std::string reason) {
  std::replace(reason.begin(), reason.end(), '\n', ' ');
  for (RefusedMesh &refused : comparison.refused)
    if (refused.mesh == mesh && refused.reason == reason)
      return refused.stages.push_back(zero);
  comparison.refused.push_back({mesh, {zero}, std::move(reason)});
}

MeshComparison braid::compareMeshes(ModuleOp module, const DriverOptions &options, PhaseClock &clock) {
  MeshComparison comparison;
  comparison.ranks = options.parallel.ranks;
  comparison.microbatches = options.accumulate;
  comparison.memoryLimit = options.memoryLimit();
  bool hasExperts = module.walk([](RoutingOpInterface) { return WalkResult::interrupt(); }).wasInterrupted();
  for (const std::vector<MeshAxis> &axes : meshesOf(options.parallel.ranks, hasExperts))
    for (std::optional<int64_t> zero : stagesOnMesh(axes)) {
      ++comparison.numCandidates;
      std::string mesh = meshText(axes);
      llvm::Expected<Report> report = plan(module, optionsOfMesh(options, axes, zero), clock);
      if (report)
        comparison.meshes.push_back(
            {mesh, zero, report->plan.arenaBytes, report->traffic.movedBytes, report->stepSeconds});
      else
        addRefused(comparison, mesh, zero, llvm::toString(report.takeError()));
    }
  llvm::stable_sort(comparison.meshes, [](const ComparedMesh &a, const ComparedMesh &b) {
    return std::pair(a.seconds, a.arenaBytes) < std::pair(b.seconds, b.arenaBytes);
  });
  return comparison;
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

static void printRow(llvm::raw_ostream &stream, const MeshComparison &comparison, const ComparedMesh &row) {
  stream << llvm::formatv("{0,-28} {1,10} {2,10} {3,10}", nameOf(row.mesh, row.zero), formatSize(row.arenaBytes),
                          formatSize(row.movedBytes), formatSeconds(row.seconds));
  if (comparison.fits(row))
    stream << (comparison.memoryLimit ? "  yes" : "");
  else
    stream << "  no: " << formatSize(row.arenaBytes - *comparison.memoryLimit) << " beyond";
  stream << "\n";
}

static void printRefused(llvm::raw_ostream &stream, const RefusedMesh &refused) {
  auto stages = llvm::map_range(llvm::make_filter_range(refused.stages, [](auto zero) { return zero.has_value(); }),
                                [](std::optional<int64_t> zero) { return std::to_string(*zero); });
  std::string listed = llvm::join(stages, "|");
  stream << refused.mesh << (listed.empty() ? "" : " --zero=" + listed) << ": " << refused.reason << "\n";
}

static void printChoice(llvm::raw_ostream &stream, const MeshComparison &comparison) {
  if (comparison.meshes.empty())
    return;
  auto fastest = llvm::find_if(comparison.meshes, [&](const ComparedMesh &mesh) { return comparison.fits(mesh); });
  bool isLimited = comparison.memoryLimit.has_value();
  if (fastest != comparison.meshes.end())
    stream << "the fastest" << (isLimited ? " that fits" : "") << " is --mesh=" << nameOf(fastest->mesh, fastest->zero);
  else
    stream << "no layout fits";
  if (isLimited)
    stream << " into " << formatSize(*comparison.memoryLimit) << ", the memory limit of a rank";
  stream << "\n";
}

void braid::printComparison(llvm::raw_ostream &stream, const MeshComparison &comparison) {
  stream << comparison.numCandidates << " layouts of " << comparison.ranks << " ranks, " << comparison.microbatches
         << (comparison.microbatches == 1 ? " microbatch" : " microbatches") << " a step; by predicted step\n";
  stream << llvm::formatv("{0,-28} {1,10} {2,10} {3,10}", "--mesh=", "peak", "moved", "step")
         << (comparison.memoryLimit ? "  fits\n" : "\n");
  for (bool fits : {true, false})
    for (const ComparedMesh &row : comparison.meshes)
      if (comparison.fits(row) == fits)
        printRow(stream, comparison, row);
  if (!comparison.refused.empty())
    stream << "not possible:\n";
  for (const RefusedMesh &refused : comparison.refused)
    printRefused(stream, refused);
  printChoice(stream, comparison);
}

static Json stageJson(std::optional<int64_t> zero) { return zero ? Json(*zero) : Json(nullptr); }

std::string braid::comparisonJson(const MeshComparison &comparison) {
  Json json{{"ranks", comparison.ranks}, {"microbatches", comparison.microbatches}};
  Json &meshes = json["meshes"] = Json::array();
  for (const ComparedMesh &row : comparison.meshes)
    meshes.push_back({{"mesh", row.mesh},
                      {"zero", stageJson(row.zero)},
                      {"peak_bytes", row.arenaBytes},
                      {"bytes_moved", row.movedBytes},
                      {"predicted_s", row.seconds},
                      {"fits", comparison.fits(row)}});
  Json &refused = json["not_possible"] = Json::array();
  for (const RefusedMesh &mesh : comparison.refused)
    for (std::optional<int64_t> zero : mesh.stages)
      refused.push_back({{"mesh", mesh.mesh}, {"zero", stageJson(zero)}, {"reason", mesh.reason}});
  json["memory_limit"] = comparison.memoryLimit ? Json(*comparison.memoryLimit) : Json(nullptr);
  return json.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
}
