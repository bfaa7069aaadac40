//===- TargetPass.td - passes that read the target ---------*- tablegen -*-===//
#ifndef BRAID_PASSES_SELECT_TARGETPASS
#define BRAID_PASSES_SELECT_TARGETPASS

include "mlir/Pass/PassBase.td"

/// A pass that reads properties of the module's target.
class TargetPass<string name, string op> : Pass<name, op> {
  let dependentDialects = ["::braid::exec::ExecDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

#endif // BRAID_PASSES_SELECT_TARGETPASS
