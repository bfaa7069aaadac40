//===- RowLoops.td - shorter loops over the lanes of rows ----*- tablegen -*-===//
#ifndef BRAID_PASSES_ARENA_ROWLOOPS
#define BRAID_PASSES_ARENA_ROWLOOPS

include "mlir/Pass/PassBase.td"

def ShortenRowLoopsPass : Pass<"exec-shorten-row-loops", "::mlir::ModuleOp"> {
  let summary = "Marks reductions and functions that row kernels can compute faster";
  let description = [{
    A row kernel has a loop over lanes for each reduction that another one depends on: a softmax over V logits reads
    them for their maximum m, for the sum of exp(x - m), and for its result. This pass finds three patterns in
    kernel bodies that make these loops fewer or shorter, and marks them for code generation. The marks do not
    change the meaning of the body.

    `exec.online`: a sum over lanes of exp(x - m), where m is the maximum of x over the same lanes. Each thread
    keeps its maximum so far and the sum of exp(x - maximum), and scales the sum when the maximum grows; threads
    then combine in a fixed order. So one loop computes both. The exponentials are approximate. Rounding x - m makes
    the relative error of exp(x - m) grow with |x - m|, and the relative error of a sum over V lanes is at most (4 +
    2.2 ln V) * 2^-24. Where exponents differ these errors cancel, and the error is about one unit in the last
    place. The sum is not marked if other generics read the same exponentials from lanes that registers can hold,
    because then keeping them is cheaper.

    `exec.picked`: a sum over lanes of `lane == i ? x : 0`, with x an operand, is a load of
    x[i] (and 0 where there is no lane i).  Exact.

    `fastmath<afn>` on `math.exp` and `math.tanh`: every value computed from the result is rounded to bf16, so an
    approximation suffices. One instruction of a GPU computes 2^y; exp(x) as 2^(x * log2(e)) has a relative error of
    up to (2 + |x|) * 2^-24. On a CPU a polynomial of degree 4 has a relative error of up to 2e-5. Both are less
    than a hundredth of half a unit of bf16 for any x that does not round to zero.

    `exec.online` is only for GPUs. On the CPU the rows of a loop come from its caches and exp is a polynomial, so
    one loop took longer than two (+10% in f32; equal in bf16, for a classifier over 50257 lanes).

    Input:
    ```mlir
    #id = affine_map<(r, l) -> (r, l)>
    #row = affine_map<(r, l) -> (r)>
    module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
    exec.kernel_def @sum space [4, 64] layouts [!exec.ref<4x64xf32, [64, 1]>, !exec.ref<4xf32, [1]>] ties [-1] {
    ^bb0(%x: tensor<4x64xf32>):
      %low = arith.constant 0xFF800000 : f32
      %zero = arith.constant 0.0 : f32
      %rows = tensor.empty() : tensor<4xf32>
      %lows = linalg.fill ins(%low : f32) outs(%rows : tensor<4xf32>) -> tensor<4xf32>
      %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
          ins(%x : tensor<4x64xf32>) outs(%lows : tensor<4xf32>) attrs = {exec.dims = array<i64: 0, 1>} {
      ^bb0(%a: f32, %out: f32):
        %m = arith.maximumf %a, %out : f32
        linalg.yield %m : f32
      } -> tensor<4xf32>
      %zeros = linalg.fill ins(%zero : f32) outs(%rows : tensor<4xf32>) -> tensor<4xf32>
      %sum = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
          ins(%x, %max : tensor<4x64xf32>, tensor<4xf32>) outs(%zeros : tensor<4xf32>) attrs = {exec.dims = array<i64: 0, 1>} {
      ^bb0(%a: f32, %m: f32, %out: f32):
        %d = arith.subf %a, %m : f32
        %e = math.exp %d : f32
        %s = arith.addf %e, %out : f32
        linalg.yield %s : f32
      } -> tensor<4xf32>
      exec.yield %sum : tensor<4xf32>
    }
    }
    ```
    Output:
    ```mlir
    #id = affine_map<(r, l) -> (r, l)>
    #row = affine_map<(r, l) -> (r)>
    module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
    exec.kernel_def @sum space [4, 64] layouts [!exec.ref<4x64xf32, [64, 1]>, !exec.ref<4xf32, [1]>] ties [-1] {
    ^bb0(%x: tensor<4x64xf32>):
      %low = arith.constant 0xFF800000 : f32
      %zero = arith.constant 0.0 : f32
      %rows = tensor.empty() : tensor<4xf32>
      %lows = linalg.fill ins(%low : f32) outs(%rows : tensor<4xf32>) -> tensor<4xf32>
      %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
          ins(%x : tensor<4x64xf32>) outs(%lows : tensor<4xf32>) attrs = {exec.dims = array<i64: 0, 1>} {
      ^bb0(%a: f32, %out: f32):
        %m = arith.maximumf %a, %out : f32
        linalg.yield %m : f32
      } -> tensor<4xf32>
      %zeros = linalg.fill ins(%zero : f32) outs(%rows : tensor<4xf32>) -> tensor<4xf32>
      %sum = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
          ins(%x, %max : tensor<4x64xf32>, tensor<4xf32>) outs(%zeros : tensor<4xf32>) attrs = {exec.dims = array<i64: 0, 1>, exec.online} {
      ^bb0(%a: f32, %m: f32, %out: f32):
        %d = arith.subf %a, %m : f32
        %e = math.exp %d : f32
        %s = arith.addf %e, %out : f32
        linalg.yield %s : f32
      } -> tensor<4xf32>
      exec.yield %sum : tensor<4xf32>
    }
    }
    ```
  }];
  let options = [
    Option<"online", "online", "bool", "true",
           "On GPUs: mark sums of exp(x - max) that one loop can compute together with the maximum">,
    Option<"picked", "picked", "bool", "true",
           "Mark sums over lanes that select one lane, so that code generation loads its value instead">,
    Option<"approximate", "approximate", "bool", "true",
           "Mark exponentials and hyperbolic tangents whose results are rounded to bf16">,
  ];
  let dependentDialects = ["::braid::exec::ExecDialect"];
}

#endif // BRAID_PASSES_ARENA_ROWLOOPS
