//===- main.cpp - braid-lsp: the language server of .mlir files -----------===//

#include "dialects/Exec/Exec.h"
#include "dialects/TG/TG.h"
#include "tools/CommandLine.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  braid::describeTool("braid-lsp");
  mlir::DialectRegistry registry;
  registry.insert<braid::tg::TGDialect, braid::exec::ExecDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect,
                  mlir::math::MathDialect, mlir::linalg::LinalgDialect, mlir::tensor::TensorDialect>();
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
