//===- Gradients.td - how gradients are reduced ----------------*- tablegen -*-===//
#ifndef BRAID_PASSES_COLLECTIVES_GRADIENTS
#define BRAID_PASSES_COLLECTIVES_GRADIENTS

include "passes/Base/Flag.td"

def NoiseScalePass : Pass<"comm-noise-scale", "::mlir::func::FuncOp"> {
  let summary = "Measures the noise scale of the ranks' gradients";
  let description = [{
    Adds two results to a training step, on the program of a rank:

    * `grad_sq_local`: |g|^2 of a rank's gradient (the mean over its own samples), averaged over ranks;
    * `grad_sq_global`: |g|^2 of the gradient of the whole batch (before clipping).

    With n ranks along the batch and B samples (tokens) a step, the results estimate |G|^2 + tr(S) n/B and
    |G|^2 + tr(S)/B, where G is the true gradient and S the covariance of one sample's gradient. The two results give
    both terms and the simple noise scale tr(S) / |G|^2 (McCandlish et al. 2018, appendix A.1).

    A rank's gradient is measured right before its first reduction, with the scale of the reduced gradient. All
    ranks are assumed to have equally many samples. This costs a pass over the gradients and one all_reduce of a
    number, which comm-bucket may merge with the all_reduce of the norm. The second result is the square of the
    result `grad_norm`, which must be there (tg-apply-optimizer with `report-norm`).

    With k microbatches (`accumulate=k`) the pass measures the sum of a rank's gradients in the accumulators. Where
    each microbatch is reduced (ZeRO-2 and 3), only the gradient of the last microbatch is available. The first
    result is then the estimate for the rank's whole batch, on the line through both: global + (micro - global)
    (n-1) / (nk-1).

    Adds nothing where one rank has the whole batch. Gradients that are reduced over axes of the model together with
    those of the batch are refused.

    Input:
    ```mlir
    comm.mesh @mesh [dp = 2]
    func.func @train(%x: tensor<1x4xf32> {tg.input = "x", tg.role = #tg.role<features>, comm.global = tensor<2x4xf32>,
                                          comm.sharding = #comm.sharding<@mesh, {dp} {}>},
                     %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
        -> (tensor<f32> {tg.role = #tg.role<grad_norm>}, tensor<4xf32> {tg.updates = "w"})
        attributes {comm.program = #comm.program<@mesh>} {
      %part = tg.reduce mean %x dims [0] : tensor<1x4xf32> -> tensor<4xf32>
      %g = comm.all_reduce mean %part over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
      %norm = tg.global_norm %g : tensor<4xf32> -> tensor<f32>
      %new = arith.subf %w, %g : tensor<4xf32>
      return %norm, %new : tensor<f32>, tensor<4xf32>
    }
    ```

    Output:
    ```mlir
    comm.mesh @mesh [dp = 2]
    func.func @train(%x: tensor<1x4xf32> {tg.input = "x", tg.role = #tg.role<features>, comm.global = tensor<2x4xf32>,
                                          comm.sharding = #comm.sharding<@mesh, {dp} {}>},
                     %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
        -> (tensor<f32> {tg.role = #tg.role<grad_norm>}, tensor<4xf32> {tg.updates = "w"}, tensor<f32> {tg.role = #tg.role<grad_sq_local>},
            tensor<f32> {tg.role = #tg.role<grad_sq_global>})
        attributes {comm.program = #comm.program<@mesh>} {
      %part = tg.reduce mean %x dims [0] : tensor<1x4xf32> -> tensor<4xf32>
      %squares = arith.mulf %part, %part : tensor<4xf32>
      %square = tg.reduce sum %squares dims [0] : tensor<4xf32> -> tensor<f32>
      %half = arith.constant dense<5.0e-01> : tensor<f32>
      %mine = arith.mulf %square, %half : tensor<f32>
      %local = comm.all_reduce sum %mine over @mesh {dp} : (tensor<f32>) -> tensor<f32>
      %g = comm.all_reduce mean %part over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
      %norm = tg.global_norm %g : tensor<4xf32> -> tensor<f32>
      %new = arith.subf %w, %g : tensor<4xf32>
      %global = arith.mulf %norm, %norm : tensor<f32>
      return %norm, %new, %local, %global : tensor<f32>, tensor<4xf32>, tensor<f32>, tensor<f32>
    }
    ```
  }];
  let options = [Option<"accumulate", "accumulate", "::braid::Integer<1>", /*default=*/"1", "Microbatches in a step">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::braid::tg::TGDialect", "::braid::comm::CommDialect"];
}

def ReducePrecisionPass : Pass<"comm-reduce-precision", "::mlir::func::FuncOp"> {
  let summary = "Reduces gradients over ranks in a different element type than stored";
  let description = [{
    Converts the operands of gradient reductions to `type`, and the results back. Other collectives (of the loss, of
    activations, gathers) stay as they are.

    Input (`type=bf16`):
    ```mlir
    comm.mesh @mesh [dp = 2]
    func.func @f(%x: tensor<3xf32> {tg.input = "x"}, %w: tensor<3xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
        -> (tensor<3xf32> {tg.updates = "w"}) attributes {comm.program = #comm.program<@mesh>} {
      %g = comm.all_reduce sum %x over @mesh {dp} : (tensor<3xf32>) -> tensor<3xf32>
      %new = arith.subf %w, %g : tensor<3xf32>
      return %new : tensor<3xf32>
    }
    ```
    Output:
    ```mlir
    comm.mesh @mesh [dp = 2]
    func.func @f(%x: tensor<3xf32> {tg.input = "x"}, %w: tensor<3xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
        -> (tensor<3xf32> {tg.updates = "w"}) attributes {comm.program = #comm.program<@mesh>} {
      %n = tg.convert %x : tensor<3xf32> -> tensor<3xbf16>
      %r = comm.all_reduce sum %n over @mesh {dp} : (tensor<3xbf16>) -> tensor<3xbf16>
      %g = tg.convert %r : tensor<3xbf16> -> tensor<3xf32>
      %new = arith.subf %w, %g : tensor<3xf32>
      return %new : tensor<3xf32>
    }
    ```
  }];
  let options = [
    Flag<"Precision", "--reduce-dtype", "reductions", "type", "type", "::braid::ElementType",
         "::braid::ElementType::F32", "With --precision=bf16: element type in which ranks reduce gradients", [{}],
         "", [{, needs("--mesh")}]>,
  ];
  let dependentDialects = ["::braid::tg::TGDialect", "::braid::comm::CommDialect"];
}

#endif // BRAID_PASSES_COLLECTIVES_GRADIENTS
