//===- Updates.td - early updates of parameters -----------*- tablegen -*-===//
#ifndef BRAID_PASSES_MEMORY_UPDATES
#define BRAID_PASSES_MEMORY_UPDATES

include "mlir/Pass/PassBase.td"

def EarlyUpdatesPass : Pass<"exec-early-updates", "::mlir::ModuleOp"> {
  let summary = "Updates parameters as soon as their gradients are ready";
  let description = [{
    The optimizer is appended to the graph, so the gradients of all parameters live until backward is over. This
    pass moves actions of the update up, so that a gradient dies soon after it was made. An update stays behind the
    producers of its operands and behind the readers of values that it overwrites: a weight gets its new value after
    backward has multiplied by it.

    Every update would be a launch, so gradients wait until their updates together take 50 times as long as a launch
    (`lib/Cost`). Then the updates run that each take longer than a launch. The others, of biases and norms, wait
    for more updates, or for the end of backward. Nothing moves if the program would have more live bytes at its
    peak.

    Facts tell which actions belong to the update. An update that depends on all gradients, such as clipping by
    their norm, stays in place, and so do collectives. If a norm is only reported, the actions that compute its part
    of a gradient move up with the gradient's update. Gradients that add up over microbatches are persistent, and so
    are their sums: their memory is not freed. `reduced=false` leaves updates of gradients that a collective reduces
    to `comm-overlap`, which knows when the reduced gradients are ready.

    Input:
    ```mlir
    #id = affine_map<(d0, d1) -> (d0, d1)>
    func.func @train(%x: tensor<512x512xf32> {tg.input = "x", tg.role = #tg.role<features>},
                     %v: tensor<512x512xf32> {tg.param = #tg.param<"v", #tg.init<ones>>},
                     %w: tensor<512x512xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
        -> (tensor<512x512xf32> {tg.role = #tg.role<loss>}, tensor<512x512xf32> {tg.updates = "w"}, tensor<512x512xf32> {tg.updates = "v"}) {
      %y = exec.matmul "mk,kn->mn"(%x, %w) : tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xf32>
      %l = exec.matmul "mk,kn->mn"(%y, %v) : tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xf32>
      %dv = exec.matmul "km,kn->mn"(%y, %y) : tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xf32>
      %dy = exec.matmul "mk,nk->mn"(%y, %v) : tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xf32>
      %dw = exec.matmul "km,kn->mn"(%x, %dy) : tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xf32>
      %w1 = exec.kernel "step"(%w, %dw) space [512, 512] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32> {
      ^bb0(%ka: tensor<512x512xf32>, %kb: tensor<512x512xf32>):
        %empty = tensor.empty() : tensor<512x512xf32>
        %kc = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
            ins(%ka, %kb : tensor<512x512xf32>, tensor<512x512xf32>) outs(%empty : tensor<512x512xf32>) attrs = {exec.dims = array<i64: 0, 1>} {
        ^bb0(%a: f32, %b: f32, %out: f32):
          %new = arith.subf %a, %b : f32
          linalg.yield %new : f32
        } -> tensor<512x512xf32>
        exec.yield %kc : tensor<512x512xf32>
      }
      %v1 = exec.kernel "step"(%v, %dv) space [512, 512] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32> {
      ^bb0(%ka: tensor<512x512xf32>, %kb: tensor<512x512xf32>):
        %empty = tensor.empty() : tensor<512x512xf32>
        %kc = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
            ins(%ka, %kb : tensor<512x512xf32>, tensor<512x512xf32>) outs(%empty : tensor<512x512xf32>) attrs = {exec.dims = array<i64: 0, 1>} {
        ^bb0(%a: f32, %b: f32, %out: f32):
          %new = arith.subf %a, %b : f32
          linalg.yield %new : f32
        } -> tensor<512x512xf32>
        exec.yield %kc : tensor<512x512xf32>
      }
      return %l, %w1, %v1 : tensor<512x512xf32>, tensor<512x512xf32>, tensor<512x512xf32>
    }
    ```
    Output:
    ```mlir
    #id = affine_map<(d0, d1) -> (d0, d1)>
    func.func @train(%x: tensor<512x512xf32> {tg.input = "x", tg.role = #tg.role<features>},
                     %v: tensor<512x512xf32> {tg.param = #tg.param<"v", #tg.init<ones>>},
                     %w: tensor<512x512xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
        -> (tensor<512x512xf32> {tg.role = #tg.role<loss>}, tensor<512x512xf32> {tg.updates = "w"}, tensor<512x512xf32> {tg.updates = "v"}) {
      %y = exec.matmul "mk,kn->mn"(%x, %w) : tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xf32>
      %l = exec.matmul "mk,kn->mn"(%y, %v) : tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xf32>
      %dv = exec.matmul "km,kn->mn"(%y, %y) : tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xf32>
      %dy = exec.matmul "mk,nk->mn"(%y, %v) : tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xf32>
      %v1 = exec.kernel "step"(%v, %dv) space [512, 512] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32> {
      ^bb0(%ka: tensor<512x512xf32>, %kb: tensor<512x512xf32>):
        %empty = tensor.empty() : tensor<512x512xf32>
        %kc = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
            ins(%ka, %kb : tensor<512x512xf32>, tensor<512x512xf32>) outs(%empty : tensor<512x512xf32>) attrs = {exec.dims = array<i64: 0, 1>} {
        ^bb0(%a: f32, %b: f32, %out: f32):
          %new = arith.subf %a, %b : f32
          linalg.yield %new : f32
        } -> tensor<512x512xf32>
        exec.yield %kc : tensor<512x512xf32>
      }
      %dw = exec.matmul "km,kn->mn"(%x, %dy) : tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xf32>
      %w1 = exec.kernel "step"(%w, %dw) space [512, 512] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32> {
      ^bb0(%ka: tensor<512x512xf32>, %kb: tensor<512x512xf32>):
        %empty = tensor.empty() : tensor<512x512xf32>
        %kc = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
            ins(%ka, %kb : tensor<512x512xf32>, tensor<512x512xf32>) outs(%empty : tensor<512x512xf32>) attrs = {exec.dims = array<i64: 0, 1>} {
        ^bb0(%a: f32, %b: f32, %out: f32):
          %new = arith.subf %a, %b : f32
          linalg.yield %new : f32
        } -> tensor<512x512xf32>
        exec.yield %kc : tensor<512x512xf32>
      }
      return %l, %w1, %v1 : tensor<512x512xf32>, tensor<512x512xf32>, tensor<512x512xf32>
    }
    ```
    The update of `v` waits for the last reader of `v`, and the gradient of `v` dies before the gradient of `w` is
    made.
  }];
  let options = [
    Option<"reduced", "reduced", "bool", /*default=*/"true",
           "Also move updates whose gradients a collective reduces; false: leave them to comm-overlap">,
  ];
  let dependentDialects = ["::braid::exec::ExecDialect"];
}

#endif // BRAID_PASSES_MEMORY_UPDATES
