//===- Target.td - the target of a module --------------*- tablegen -*-===//
#ifndef BRAID_PASSES_SELECT_TARGET
#define BRAID_PASSES_SELECT_TARGET

include "passes/Base/Flag.td"

def SetTargetPass : Pass<"exec-set-target", "::mlir::ModuleOp"> {
  let summary = "Sets the target of a module";
  let description = [{
    Sets `exec.target`, from which later passes get the properties of the target: epilogues, an attention library,
    alignments, rates. A GPU target without `arch` gets the architecture of `card`, or the default
    one. Cards of an architecture have the same code, and plans for their memory and its speed. A module without the attribute is
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
  let options = [
    Flag<"Target", "--target", "target", "name", "name", "std::string", /*default=*/"\"cpu\"",
         "Device on which the binary runs; for CUDA, with the GPU to compile for: a card, such as h200, or an architecture, such as sm_90", [{text("cpu|cuda[:GPU]")}]>,
    Option<"arch", "arch", "std::string", /*default=*/"\"\"", "Architecture of the GPU, such as sm_90">,
    Option<"card", "card", "std::string", /*default=*/"\"\"", "Card, such as h200">,
  ];
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
    Flag<"Communication", "--link", "machine", "link", "link", "std::string", /*default=*/"\"\"",
         "Link between ranks for the cost model: latency in us and bandwidth in GB/s, for all axes of --mesh or for "
         "each",
         [{text("[AXIS:]latency_us,GBps", areLinks,
                "a latency in us and a rate in GB/s, as in --link=20,1.25, or one pair an axis, as in "
                "--link=tp:5,100,dp:20,1.25")}], "the target's link inside a machine">,
    Flag<"Communication", "--compute", "machine", "compute", "compute", "std::string", /*default=*/"\"\"",
         "Compute rates of a rank for the cost model: GFLOP/s, and memory bandwidth in GB/s",
         [{text("GFLOPS,GBps", isPositivePair, "two rates above 0, as in --compute=100,20")}],
         "the rates of the target">,
  ];
  let dependentDialects = ["::braid::exec::ExecDialect"];
}

#endif // BRAID_PASSES_SELECT_TARGET
