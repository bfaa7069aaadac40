//===- main.cpp - braid-opt: every pass, one at a time --------------------===//

#include "braid/InitAll.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "tools/CommandLine.h"

int main(int argc, char **argv) {
  braid::describeTool("braid-opt");
  mlir::DialectRegistry registry;
  braid::registerAllDialects(registry);
  braid::registerAllPasses();
  mlir::registerInlinerPass();
  mlir::registerPrintIRPass();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Braid's passes over the tg and exec dialects\n", registry));
}
