//===- main.cpp - braid-lsp: the language server of .mlir files -----------===//

#include "braid/InitAll.h"
#include "cli/StandardFiles.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "tools/CommandLine.h"
#include "tools/Failures.h"

int main(int argc, char **argv) {
  braid::cli::prepareProcess();
  braid::reportFailures("braid-lsp");
  braid::describeTool("braid-lsp");
  mlir::DialectRegistry registry;
  braid::registerAllDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
