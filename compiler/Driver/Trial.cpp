//===- Trial.cpp - cost of a plan -----------------------------------------===//

#include "compiler/Driver/Trial.h"
#include "lib/Target/TargetInfo.h"

using namespace mlir;
using namespace braid;

DriverOptions braid::optionsOfTrial(DriverOptions options) {
  options.emit = Emit::Memory;
  options.isTrial = true;
  options.printIrAfter.clear();
  return options;
}

FailureOr<PlanCost> braid::planTrial(ModuleOp module, const DriverOptions &options, Phase begin) {
  ScopedDiagnosticHandler errorsOnly(module.getContext(), [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() != DiagnosticSeverity::Error);
  });
  if (failed(runPhases(module, options, begin)))
    return failure();
  Report report = readReport(module, targetOf(module)->alignment, options.accumulate);
  int64_t activations = 0;
  for (const ProgramPlan &program : report.plan.programs)
    for (const CategoryBytes &held : program.byCategory)
      if (held.category == exec::Category::Activations)
        activations = std::max(activations, held.bytes);
  return PlanCost{report.plan.arenaBytes, activations, report.stepSeconds};
}
