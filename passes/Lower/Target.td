//===- Target.td - the target of a module --------------*- tablegen -*-===//
#ifndef BRAID_PASSES_LOWER_TARGET
#define BRAID_PASSES_LOWER_TARGET

include "mlir/Pass/PassBase.td"

def SetTargetPass : Pass<"exec-set-target", "::mlir::ModuleOp"> {
  let summary = "Sets the target of a module";
  let description = [{
    Sets `exec.target`, from which later passes get the properties of the target: epilogues, an attention library,
    alignments, rates. A GPU target without `arch` gets the default architecture. A module without the attribute is
    lowered for the CPU.

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

def SetMachinePass : Pass<"exec-set-machine", "::mlir::ModuleOp"> {
  let summary = "Replaces rates of the target by rates of a machine";
  let description = [{
    Sets `exec.machine`, which every pass that predicts times reads (`machineOf`, lib/Cost). Missing rates default
    to the target's row.

    `compute` is GFLOPS,GBps: GEMMs and attention of any size, and memory traffic; vector code scales with the former.
    `link` is latency_us,GBps.  `tp:5,100,dp:20,1.25` gives each axis of the mesh a link of its own.  A collective over
    several axes takes the greatest latency and the least rate among those with more than one rank.

    Input (`compute=100,20 link=20,1.25,tp:5,100`):
    ```mlir
    module {
    }
    ```
    Output:
    ```mlir
    module attributes {exec.machine = #exec.machine<compute = [100.0, 20.0], link = [20.0, 1.25],
                                                    links = {tp = array<f64: 5.0, 100.0>}>} {
    }
    ```
  }];
  let options = [
    Option<"link", "link", "std::string", /*default=*/"\"\"",
           "Latency in us and GB/s between ranks, as 20,1.25, or by axis, as tp:5,100,dp:20,1.25">,
    Option<"compute", "compute", "std::string", /*default=*/"\"\"", "GFLOP/s and GB/s of a rank, as 100,20">];
  let dependentDialects = ["::braid::exec::ExecDialect"];
}

/// A pass that reads properties of the module's target.
class TargetPass<string name, string op> : Pass<name, op> {
  let dependentDialects = ["::braid::exec::ExecDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

#endif // BRAID_PASSES_LOWER_TARGET
