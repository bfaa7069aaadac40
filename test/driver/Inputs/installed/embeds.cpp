// Runs a pass of Braid on a graph, in a program of its own.

#include "braid/InitAll.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

int main(int argc, char **argv) {
  braid::registerAllPasses();
  DialectRegistry registry;
  braid::registerAllDialects(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argv[argc - 1], &context);
  PassManager manager(&context);
  if (!module || failed(parsePassPipeline("tg-make-programs", manager)) || failed(manager.run(*module)))
    return 1;
  module->print(llvm::outs());
  return 0;
}
