//===- main.cpp - braid-lsp: the language server of .mlir files -----------===//

#include "braid/InitAll.h"
#include "tools/CommandLine.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  braid::describeTool("braid-lsp");
  mlir::DialectRegistry registry;
  braid::registerAllDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
