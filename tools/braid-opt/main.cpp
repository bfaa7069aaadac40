//===- main.cpp - braid-opt: every pass, one at a time --------------------===//

#include "dialects/Exec/Exec.h"
#include "dialects/TG/TG.h"
#include "passes/Graph/Passes.h"
#include "passes/Lower/Passes.h"
#include "tools/CommandLine.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  braid::describeTool("braid-opt");
  mlir::DialectRegistry registry;
  registry.insert<braid::tg::TGDialect, braid::exec::ExecDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect,
                  mlir::math::MathDialect, mlir::linalg::LinalgDialect, mlir::tensor::TensorDialect>();
  braid::registerUpstreamModels(registry);
  braid::registerGraphPasses();
  braid::registerLowerPasses();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerSymbolDCEPass();
  mlir::registerInlinerPass();
  mlir::registerPrintIRPass();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Braid's passes over the tg and exec dialects\n", registry));
}
