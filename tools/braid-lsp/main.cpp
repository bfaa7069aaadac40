//===- main.cpp - braid-lsp: the language server of .mlir files -----------===//

#include "braid/InitAll.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "tools/CommandLine.h"

int main(int argc, char **argv) {
  braid::describeTool("braid-lsp");
  mlir::DialectRegistry registry;
  braid::registerAllDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
