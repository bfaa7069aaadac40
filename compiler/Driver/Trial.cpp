//===- Trial.cpp - plans a graph with trial options -----------------------===//

#include "compiler/Driver/Trial.h"
#include "compiler/Driver/Pipeline.h"
#include "lib/Target/TargetInfo.h"

using namespace mlir;
using namespace braid;

FailureOr<Trial> braid::tryPlan(ModuleOp module, DriverOptions options, StringRef behind) {
  options.emit = Emit::Memory;
  options.isTrial = true;
  options.printIrAfter.clear();
  ScopedDiagnosticHandler errorsOnly(module.getContext(), [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() != DiagnosticSeverity::Error);
  });
  PhaseClock untimed(/*verbose=*/false);
  OwningOpRef<ModuleOp> copy = module.clone();
  if (failed(Lowering(options, untimed).runOn(*copy, behind)))
    return failure();
  Report report = readReport(*copy, targetOf(*copy)->alignment, options.accumulate);
  int64_t activations = 0;
  for (const ProgramPlan &program : report.plan.programs)
    for (const CategoryBytes &held : program.byCategory)
      if (held.category == exec::Category::Activations)
        activations = std::max(activations, held.bytes);
  return Trial{report.plan.arenaBytes, activations, report.stepSeconds};
}
