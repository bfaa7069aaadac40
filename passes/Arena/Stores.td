//===- Stores.td - stores that bypass the caches -------*- tablegen -*-===//
#ifndef BRAID_PASSES_ARENA_STORES
#define BRAID_PASSES_ARENA_STORES

include "mlir/Pass/PassBase.td"

def StreamStoresPass : Pass<"exec-stream-stores", "::mlir::ModuleOp"> {
  let summary = "Marks results whose stores bypass the caches";
  let description = [{
    A processor reads a line of memory before it writes a part of it, and keeps the line in its caches, where it evicts
    another line. This helps values that are read soon. For other values this read is a third of the traffic. For
    example, an update makes the bf16 copy of a weight, which is next read in another step.

    A kernel result that is not also an operand bypasses the caches if its next use is far away. The distance is the
    number of bytes that move from the launch up to the next action that reads or writes the same tensor or buffer. It
    must be at least `streamDistance` of the target's row (0: never, as on a GPU, whose stores go to L2 anyway). A
    persistent tensor may next be used by any program, at its first use there. If launches of one kernel differ, the
    majority of the bytes decides. `exec.streamed` on the `exec.kernel_def` holds the numbers of these results. The
    written bytes are the same.

    Input:
    ```mlir
    #id = affine_map<(d0) -> (d0)>
    exec.tensor @x at 0 bytes 134217728 category parameters : tensor<33554432xf32> = #tg.param<"x", #tg.init<ones>>
    exec.tensor @w at 134217728 bytes 67108864 category parameters : tensor<33554432xbf16> = #tg.param<"w", #tg.init<ones>>
    exec.kernel_def @copy space [1] flat layouts [!exec.ref<1xf32, [1]>, !exec.ref<1xbf16, [1]>] ties [-1] {
    ^bb0(%a: tensor<1xf32>):
      %e = tensor.empty() : tensor<1xbf16>
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%a : tensor<1xf32>) outs(%e : tensor<1xbf16>) attrs = {exec.dims = array<i64: 0>} {
      ^bb0(%u: f32, %o: bf16):
        %t = arith.truncf %u : f32 to bf16
        linalg.yield %t : bf16
      } -> tensor<1xbf16>
      exec.yield %r : tensor<1xbf16>
    }
    exec.program @train arena 201326592 {
      %x = exec.ref @x + 0 : !exec.ref<33554432xf32, [1]>
      %w = exec.ref @w + 0 : !exec.ref<33554432xbf16, [1]>
      exec.launch @copy batch 1 (%x) outs (%w) : !exec.ref<33554432xf32, [1]> -> !exec.ref<33554432xbf16, [1]>
    }
    ```
    Output:
    ```mlir
    #id = affine_map<(d0) -> (d0)>
    exec.tensor @x at 0 bytes 134217728 category parameters : tensor<33554432xf32> = #tg.param<"x", #tg.init<ones>>
    exec.tensor @w at 134217728 bytes 67108864 category parameters : tensor<33554432xbf16> = #tg.param<"w", #tg.init<ones>>
    exec.kernel_def @copy space [1] flat layouts [!exec.ref<1xf32, [1]>, !exec.ref<1xbf16, [1]>] ties [-1] attributes {exec.streamed = array<i64: 0>} {
    ^bb0(%a: tensor<1xf32>):
      %e = tensor.empty() : tensor<1xbf16>
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%a : tensor<1xf32>) outs(%e : tensor<1xbf16>) attrs = {exec.dims = array<i64: 0>} {
      ^bb0(%u: f32, %o: bf16):
        %t = arith.truncf %u : f32 to bf16
        linalg.yield %t : bf16
      } -> tensor<1xbf16>
      exec.yield %r : tensor<1xbf16>
    }
    exec.program @train arena 201326592 {
      %x = exec.ref @x + 0 : !exec.ref<33554432xf32, [1]>
      %w = exec.ref @w + 0 : !exec.ref<33554432xbf16, [1]>
      exec.launch @copy batch 1 (%x) outs (%w) : !exec.ref<33554432xf32, [1]> -> !exec.ref<33554432xbf16, [1]>
    }
    ```
  }];
  let dependentDialects = ["::braid::exec::ExecDialect"];
}

#endif // BRAID_PASSES_ARENA_STORES
