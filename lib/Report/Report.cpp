//===- Report.cpp - all that there is to say ------------------------------===//

#include "lib/Report/Report.h"

using namespace braid;

Report braid::readReport(mlir::ModuleOp module, int64_t alignment, int64_t microbatches) {
  return {readPlan(module, alignment), readTraffic(module, microbatches)};
}

void braid::printReport(llvm::raw_ostream &stream, const Report &report) {
  printPlan(stream, report.plan);
  printTraffic(stream, report.traffic);
}
