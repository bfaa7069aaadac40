//===- Report.cpp - all that there is to say ------------------------------===//

#include "lib/Report/Report.h"
#include "lib/Memory/Size.h"
#include "lib/Target/TargetInfo.h"

using namespace braid;

static std::optional<AttentionSumsReport> readAttention(mlir::ModuleOp module) {
  std::optional<AttentionSumsReport> found;
  const TargetInfo *target = targetOf(module);
  module.walk([&](exec::AttentionGradOp call) {
    int64_t bytes = call.getWorkspaceBytes(target->workspace);
    if (!found || found->workspaceBytes < bytes)
      found = {call.getOrder(), bytes};
  });
  return found;
}

Report braid::readReport(mlir::ModuleOp module, int64_t alignment, int64_t microbatches) {
  return {readPlan(module, alignment), readTraffic(module, microbatches), readAttention(module)};
}

void braid::printReport(llvm::raw_ostream &stream, const Report &report) {
  printPlan(stream, report.plan);
  if (report.attention)
    stream << "\ngradients of attention: summed in " << exec::stringifySumOrder(report.attention->order)
           << " order, with " << formatSize(report.attention->workspaceBytes) << " ("
           << report.attention->workspaceBytes << " bytes) of scratch memory\n";
  printTraffic(stream, report.traffic);
}
