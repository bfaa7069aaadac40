//===- PlannedText.cpp - compiles text that braidc wrote ------------------===//

#include "compiler/Driver/PlannedText.h"
#include "compiler/Driver/OutputFile.h"
#include "compiler/Driver/ParallelOptions.h"
#include "dialects/Comm/Mesh.h"
#include "dialects/TG/TrainingFacts.h"
#include "lib/Schedule/PipelineTable.h"
#include "lib/Target/TargetInfo.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mlir;
using namespace braid;

std::string braid::modelName(ModuleOp module, const DriverOptions &options) {
  std::optional<tg::TrainingFacts> facts = tg::TrainingFacts::of(module);
  return facts ? facts->model : sys::path::stem(options.input).str();
}

bool braid::isInMemory(ModuleOp module) { return !module.getOps<exec::ProgramOp>().empty(); }

/// Returns the axes of the mesh; empty for a module of one rank.
static std::vector<MeshAxis> meshOf(ModuleOp module) {
  std::vector<MeshAxis> axes;
  for (auto op : module.getOps<comm::MeshOp>()) {
    comm::Mesh mesh(op);
    for (auto [name, size] : zip_equal(mesh.getNames(), mesh.getSizes()))
      axes.push_back({name.str(), size});
  }
  return axes;
}

/// Takes the microbatches of a step from the facts or from the table of a pipeline. Other programs show only whether
/// there are several microbatches.
static LogicalResult readMicrobatches(ModuleOp module, DriverOptions &options, const std::string &planned) {
  std::optional<tg::TrainingFacts> facts = tg::TrainingFacts::of(module);
  FailureOr<std::optional<PipelineTable>> table = PipelineTable::of(module);
  if (failed(table))
    return failure();
  auto addsUp = [](exec::ProgramOp program) { return program.getSymName() == "accumulate"; };
  bool hasMicrobatches = any_of(module.getOps<exec::ProgramOp>(), addsUp);
  if (facts || *table) {
    int64_t count = facts ? facts->microbatches : (*table)->getSchedule().numMicrobatches();
    if (options.has("--accumulate") && options.accumulate != count)
      return reportError(makeError(planned + ", for --accumulate=" + std::to_string(count) +
                                   ", not for --accumulate=" + std::to_string(options.accumulate)));
    options.accumulate = count;
  } else if (hasMicrobatches != (options.accumulate > 1)) {
    return reportError(makeError(planned + (hasMicrobatches ? ", with microbatches: give their number by --accumulate"
                                                            : ", without microbatches: leave --accumulate out")));
  }
  if (!facts)
    tg::TrainingFacts{modelName(module, options), /*optimizer=*/"", options.accumulate}.attachTo(module);
  return success();
}

LogicalResult braid::checkPlanned(ModuleOp module, DriverOptions &options) {
  std::string planned = "'" + options.input + "' is already planned";
  if (StringRef late = firstPlanOption(options); !late.empty())
    return reportError(makeError(planned + ", so " + late + " comes too late: leave it out, or compile the graph"));
  std::string mesh = meshText(meshOf(module)), said = meshText(options.parallel.mesh);
  if (!said.empty() && said != mesh)
    return reportError(makeError(planned + ", for " + (mesh.empty() ? "one rank" : "--mesh=" + mesh) +
                                 ", not for --mesh=" + options.parallel.meshText));
  auto target = module->getAttrOfType<exec::TargetAttr>(exec::ExecDialect::kTarget);
  if (target && target.getName() != options.passes.target.name)
    return reportError(
        makeError(planned + ", for --target=" + target.getName() + ", not for --target=" + options.passes.target.name));
  module->setAttr(exec::ExecDialect::kTarget, targetAttr(module.getContext(), options.passes.target.name,
                                                         options.passes.target.arch, options.passes.target.card));
  return readMicrobatches(module, options, planned);
}

LogicalResult braid::planActions(ModuleOp module, const DriverOptions &options, PhaseClock &clock) {
  tg::TrainingFacts facts = *tg::TrainingFacts::of(module);
  WalkResult found = module->walk([](Operation *op) {
    bool isAction = isa<exec::ExecDialect>(op->getDialect()) && op->getParentOfType<func::FuncOp>();
    return isAction ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!found.wasInterrupted() || options.emit < Emit::Exec)
    return reportError(makeError("'" + options.input +
                                 "' is partly compiled: compile the graph instead, because only the output of "
                                 "--emit=exec or memory can be compiled further, and only to a later level"));
  if (std::vector<std::string> given = optionsOfPrograms(options); given != facts.options)
    return reportError(makeError("'" + options.input + "' was compiled with '" + join(facts.options, " ") +
                                 "', not with '" + join(given, " ") +
                                 "': give the same options, or compile the graph"));
  if (options.emit == Emit::Exec)
    return success();
  facts.options.clear();
  facts.attachTo(module);
  return runPhases(module, options, Phase::Memory, {}, &clock);
}
