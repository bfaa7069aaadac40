//===- main.cpp - braid-opt: every pass, one at a time --------------------===//

#include "braid/InitAll.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "tools/CommandLine.h"
#include "tools/Failures.h"
#include "llvm/Support/CommandLine.h"

int main(int argc, char **argv) {
  braid::reportFailures("braid-opt");
  braid::describeTool("braid-opt");
  mlir::DialectRegistry registry;
  braid::registerAllDialects(registry);
  braid::registerAllPasses();
  mlir::registerInlinerPass();
  mlir::registerPrintIRPass();
  llvm::cl::list<std::string> unknown(llvm::cl::Sink);
  auto [input, output] =
      mlir::registerAndParseCLIOptions(argc, argv, "Braid's passes over the tg and exec dialects\n", registry);
  braid::refuseUnknown("braid-opt", unknown);
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
}
