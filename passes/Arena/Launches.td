//===- Launches.td - kernels defined once, launched together -*- tablegen -*-===//
//
// Runs in memory form: kernels that layers have in common are defined once, and independent launches are merged.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_ARENA_LAUNCHES
#define BRAID_PASSES_ARENA_LAUNCHES

include "mlir/Pass/PassBase.td"

def OutlineKernelsPass : Pass<"exec-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Defines each kernel once";
  let description = [{
    Kernels in memory form with equal bodies, layouts and ties (outs that are operands) become one `exec.kernel_def`
    with one `exec.launch` for each kernel, so a model has as much kernel source as one of its layers. An
    elementwise kernel on contiguous tensors, without indices, becomes `flat`: it does not depend on the length. A
    kernel that reduces each row of contiguous tensors to a value becomes `flat`, too: it does not depend on the
    number of rows.

    Input:
    ```mlir
    #id = affine_map<(d0) -> (d0)>
    exec.tensor @v at 0 bytes 32 category parameters : tensor<8xf32> = #tg.param<"v", #tg.init<zeros>>
    exec.tensor @w at 64 bytes 32 category parameters : tensor<8xf32> = #tg.param<"w", #tg.init<zeros>>
    exec.program @train arena 192 {
      exec.buffer @b0 at 128 bytes 32 live -1 to 1 category inputs name "x" "input" role "" : tensor<8xf32>
      %v = exec.ref @v + 0 : !exec.ref<8xf32, [1]>
      %x = exec.ref @b0 + 0 : !exec.ref<8xf32, [1]>
      %w = exec.ref @w + 0 : !exec.ref<8xf32, [1]>
      exec.kernel "addf"(%v, %x) outs(%v : !exec.ref<8xf32, [1]>) space [8] : (!exec.ref<8xf32, [1]>, !exec.ref<8xf32, [1]>) -> () {
      ^bb0(%ka: tensor<8xf32>, %kb: tensor<8xf32>):
        %empty = tensor.empty() : tensor<8xf32>
        %kc = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
            ins(%ka, %kb : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) attrs = {exec.dims = array<i64: 0>} {
        ^bb0(%a: f32, %b: f32, %out: f32):
          %sum = arith.addf %a, %b : f32
          linalg.yield %sum : f32
        } -> tensor<8xf32>
        exec.yield %kc : tensor<8xf32>
      }
      exec.kernel "addf"(%w, %x) outs(%w : !exec.ref<8xf32, [1]>) space [8] : (!exec.ref<8xf32, [1]>, !exec.ref<8xf32, [1]>) -> () {
      ^bb0(%ka: tensor<8xf32>, %kb: tensor<8xf32>):
        %empty = tensor.empty() : tensor<8xf32>
        %kc = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
            ins(%ka, %kb : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) attrs = {exec.dims = array<i64: 0>} {
        ^bb0(%a: f32, %b: f32, %out: f32):
          %sum = arith.addf %a, %b : f32
          linalg.yield %sum : f32
        } -> tensor<8xf32>
        exec.yield %kc : tensor<8xf32>
      }
    }
    ```
    Output:
    ```mlir
    #id = affine_map<(d0) -> (d0)>
    exec.kernel_def @addf space [1] flat layouts [!exec.ref<1xf32, [1]>, !exec.ref<1xf32, [1]>, !exec.ref<1xf32, [1]>] ties [0] {
    ^bb0(%ka: tensor<1xf32>, %kb: tensor<1xf32>):
      %empty = tensor.empty() : tensor<1xf32>
      %kc = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
          ins(%ka, %kb : tensor<1xf32>, tensor<1xf32>) outs(%empty : tensor<1xf32>) attrs = {exec.dims = array<i64: 0>} {
      ^bb0(%a: f32, %b: f32, %out: f32):
        %sum = arith.addf %a, %b : f32
        linalg.yield %sum : f32
      } -> tensor<1xf32>
      exec.yield %kc : tensor<1xf32>
    }
    exec.tensor @v at 0 bytes 32 category parameters : tensor<8xf32> = #tg.param<"v", #tg.init<zeros>>
    exec.tensor @w at 64 bytes 32 category parameters : tensor<8xf32> = #tg.param<"w", #tg.init<zeros>>
    exec.program @train arena 192 {
      exec.buffer @b0 at 128 bytes 32 live -1 to 1 category inputs name "x" "input" role "" : tensor<8xf32>
      %v = exec.ref @v + 0 : !exec.ref<8xf32, [1]>
      %x = exec.ref @b0 + 0 : !exec.ref<8xf32, [1]>
      %w = exec.ref @w + 0 : !exec.ref<8xf32, [1]>
      exec.launch @addf batch 1(%v, %x) outs(%v) : !exec.ref<8xf32, [1]>, !exec.ref<8xf32, [1]> -> !exec.ref<8xf32, [1]>
      exec.launch @addf batch 1(%w, %x) outs(%w) : !exec.ref<8xf32, [1]>, !exec.ref<8xf32, [1]> -> !exec.ref<8xf32, [1]>
    }
    ```
  }];
  let dependentDialects = ["::braid::exec::ExecDialect"];
}

def BatchLaunchesPass : Pass<"exec-batch-launches", "::mlir::ModuleOp"> {
  let summary = "Merges independent launches of a kernel";
  let description = [{
    A launch moves up to an earlier one of its kernel if no action between them conflicts with it in memory. Live
    ranges of buffers are renumbered. With AdamW one launch updates all parameters of a decay group. Kernels that
    leave a partial sum for each block of rows are launched one by one.

    Input:
    ```mlir
    #id = affine_map<(d0) -> (d0)>
    exec.kernel_def @addf space [1] flat layouts [!exec.ref<1xf32, [1]>, !exec.ref<1xf32, [1]>, !exec.ref<1xf32, [1]>] ties [0] {
    ^bb0(%ka: tensor<1xf32>, %kb: tensor<1xf32>):
      %empty = tensor.empty() : tensor<1xf32>
      %kc = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
          ins(%ka, %kb : tensor<1xf32>, tensor<1xf32>) outs(%empty : tensor<1xf32>) attrs = {exec.dims = array<i64: 0>} {
      ^bb0(%a: f32, %b: f32, %out: f32):
        %sum = arith.addf %a, %b : f32
        linalg.yield %sum : f32
      } -> tensor<1xf32>
      exec.yield %kc : tensor<1xf32>
    }
    exec.tensor @v at 0 bytes 32 category parameters : tensor<8xf32> = #tg.param<"v", #tg.init<zeros>>
    exec.tensor @w at 64 bytes 32 category parameters : tensor<8xf32> = #tg.param<"w", #tg.init<zeros>>
    exec.program @train arena 192 {
      exec.buffer @b0 at 128 bytes 32 live -1 to 1 category inputs name "x" "input" role "" : tensor<8xf32>
      %v = exec.ref @v + 0 : !exec.ref<8xf32, [1]>
      %x = exec.ref @b0 + 0 : !exec.ref<8xf32, [1]>
      %w = exec.ref @w + 0 : !exec.ref<8xf32, [1]>
      exec.launch @addf batch 1(%v, %x) outs(%v) : !exec.ref<8xf32, [1]>, !exec.ref<8xf32, [1]> -> !exec.ref<8xf32, [1]>
      exec.launch @addf batch 1(%w, %x) outs(%w) : !exec.ref<8xf32, [1]>, !exec.ref<8xf32, [1]> -> !exec.ref<8xf32, [1]>
    }
    ```
    Output:
    ```mlir
    #id = affine_map<(d0) -> (d0)>
    exec.kernel_def @addf space [1] flat layouts [!exec.ref<1xf32, [1]>, !exec.ref<1xf32, [1]>, !exec.ref<1xf32, [1]>] ties [0] {
    ^bb0(%ka: tensor<1xf32>, %kb: tensor<1xf32>):
      %empty = tensor.empty() : tensor<1xf32>
      %kc = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
          ins(%ka, %kb : tensor<1xf32>, tensor<1xf32>) outs(%empty : tensor<1xf32>) attrs = {exec.dims = array<i64: 0>} {
      ^bb0(%a: f32, %b: f32, %out: f32):
        %sum = arith.addf %a, %b : f32
        linalg.yield %sum : f32
      } -> tensor<1xf32>
      exec.yield %kc : tensor<1xf32>
    }
    exec.tensor @v at 0 bytes 32 category parameters : tensor<8xf32> = #tg.param<"v", #tg.init<zeros>>
    exec.tensor @w at 64 bytes 32 category parameters : tensor<8xf32> = #tg.param<"w", #tg.init<zeros>>
    exec.program @train arena 192 {
      exec.buffer @b0 at 128 bytes 32 live -1 to 0 category inputs name "x" "input" role "" : tensor<8xf32>
      %v = exec.ref @v + 0 : !exec.ref<8xf32, [1]>
      %x = exec.ref @b0 + 0 : !exec.ref<8xf32, [1]>
      %w = exec.ref @w + 0 : !exec.ref<8xf32, [1]>
      exec.launch @addf batch 2(%v, %x, %w, %x) outs(%v, %w)
          : !exec.ref<8xf32, [1]>, !exec.ref<8xf32, [1]>, !exec.ref<8xf32, [1]>, !exec.ref<8xf32, [1]>
          -> !exec.ref<8xf32, [1]>, !exec.ref<8xf32, [1]>
    }
    ```
  }];
  let dependentDialects = ["::braid::exec::ExecDialect"];
}

#endif // BRAID_PASSES_ARENA_LAUNCHES
