//===- Target.td - what a module is compiled for --------------*- tablegen -*-===//
#ifndef BRAID_PASSES_LOWER_TARGET
#define BRAID_PASSES_LOWER_TARGET

include "mlir/Pass/PassBase.td"

def SetTargetPass : Pass<"exec-set-target", "::mlir::ModuleOp"> {
  let summary = "Says what a module is compiled for";
  let description = [{
    Sets `exec.target`, which later passes ask what the target has: epilogues, an attention
    library, alignments, rates.  A target with GPUs and no `arch` has the default architecture.
    A module without the attribute is lowered for the CPU.

    Input:
    ```mlir
    module {
    }
    ```
    Output:
    ```mlir
    module attributes {exec.target = #exec.target<"cpu">} {
    }
    ```
  }];
  let options = [Option<"name", "name", "std::string", /*default=*/"\"cpu\"", "cpu or cuda">,
                 Option<"arch", "arch", "std::string", /*default=*/"\"\"", "The architecture of a GPU: sm_90">];
  let dependentDialects = ["::braid::exec::ExecDialect"];
}

/// Asks what the target of the module has.
class TargetPass<string name, string op> : Pass<name, op> {
  let dependentDialects = ["::braid::exec::ExecDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

#endif // BRAID_PASSES_LOWER_TARGET
