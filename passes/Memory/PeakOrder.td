//===- PeakOrder.td - an order with a lower peak ---------------*- tablegen -*-===//
#ifndef BRAID_PASSES_MEMORY_PEAKORDER
#define BRAID_PASSES_MEMORY_PEAKORDER

include "mlir/Pass/PassBase.td"

def LowerPeakPass : Pass<"exec-lower-peak", "::mlir::ModuleOp"> {
  let summary = "Reorders actions to lower peak memory";
  let description = [{
    Many orders of a program's actions compute the same values. At the peak of live bytes, some buffers only wait:
    their producers could run later, or their readers earlier. This pass looks at the largest buffers that are live
    at the peak. It either moves the actions that use a buffer before the peak behind the peak, with all actions
    that depend on them. Or it moves the actions that use the buffer after the peak before it, with all actions that
    they depend on. Moves end directly across the peak or further away. Of all moves the pass makes the one with the
    lowest resulting peak, if it saves a thousandth of the peak, and then looks at the next peak.

    In a language model, the first gradient is that of the largest weight, which makes the logits. It is made when
    all activations are still live. The pass moves it behind the backward pass of as many layers as make room for
    it.

    An action stays behind the producers of its operands and behind the readers of values that it overwrites, by
    buffer assignment. Collectives, and other actions that ranks see, keep their order. The pass then counts the
    peak again, and restores the old order if the peak is not lower. A remark gives the saved bytes.

    Input:
    ```mlir
    func.func @f(%x: tensor<64x64xf32> {tg.param = #tg.param<"x", #tg.init<ones>>},
                 %u: tensor<64x256xf32> {tg.param = #tg.param<"u", #tg.init<ones>>},
                 %v: tensor<256x256xf32> {tg.param = #tg.param<"v", #tg.init<ones>>},
                 %w: tensor<256x64xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> tensor<64x64xf32> {
      %early = exec.matmul "mk,kn->mn"(%x, %x) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
      %a = exec.matmul "mk,kn->mn"(%x, %u) : tensor<64x64xf32>, tensor<64x256xf32> -> tensor<64x256xf32>
      %b = exec.matmul "mk,kn->mn"(%a, %v) : tensor<64x256xf32>, tensor<256x256xf32> -> tensor<64x256xf32>
      %c = exec.matmul "mk,kn->mn"(%b, %w) : tensor<64x256xf32>, tensor<256x64xf32> -> tensor<64x64xf32>
      %d = exec.matmul "mk,kn->mn"(%c, %early) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
      return %d : tensor<64x64xf32>
    }
    ```
    Output:
    ```mlir
    func.func @f(%x: tensor<64x64xf32> {tg.param = #tg.param<"x", #tg.init<ones>>},
                 %u: tensor<64x256xf32> {tg.param = #tg.param<"u", #tg.init<ones>>},
                 %v: tensor<256x256xf32> {tg.param = #tg.param<"v", #tg.init<ones>>},
                 %w: tensor<256x64xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> tensor<64x64xf32> {
      %a = exec.matmul "mk,kn->mn"(%x, %u) : tensor<64x64xf32>, tensor<64x256xf32> -> tensor<64x256xf32>
      %b = exec.matmul "mk,kn->mn"(%a, %v) : tensor<64x256xf32>, tensor<256x256xf32> -> tensor<64x256xf32>
      %early = exec.matmul "mk,kn->mn"(%x, %x) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
      %c = exec.matmul "mk,kn->mn"(%b, %w) : tensor<64x256xf32>, tensor<256x64xf32> -> tensor<64x64xf32>
      %d = exec.matmul "mk,kn->mn"(%c, %early) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
      return %d : tensor<64x64xf32>
    }
    ```
    `%early` is not live while both large values are.
  }];
  let dependentDialects = ["::braid::exec::ExecDialect"];
}

#endif // BRAID_PASSES_MEMORY_PEAKORDER
