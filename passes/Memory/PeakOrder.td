//===- PeakOrder.td - an order that holds less ---------------*- tablegen -*-===//
#ifndef BRAID_PASSES_MEMORY_PEAKORDER
#define BRAID_PASSES_MEMORY_PEAKORDER

include "mlir/Pass/PassBase.td"

def LowerPeakPass : Pass<"exec-lower-peak", "::mlir::ModuleOp"> {
  let summary = "Reorders actions where that lowers the peak of memory";
  let description = [{
    Many orders of a program's actions compute the same.  Where the most bytes are live, some of
    them only wait: what makes them could run later, or what reads them earlier.  This pass looks
    at the largest buffers that are live at the peak.  What uses one before the peak moves behind
    it, with all that depends on that; or what uses it after the peak moves before it, with all
    that that needs.  Of all such moves, right across the peak or further away, the one that
    leaves the lowest peak is made, if it saves a thousandth of it; then the next peak is looked
    at.

    Of a language model the gradient of the largest weight, that of the logits, is made first of
    all gradients, when all activations are still live.  It moves behind the backward pass of as
    many layers as make room for it.

    An action stays behind what makes its operands and behind who reads what it overwrites, as
    buffer assignment has it.  Collectives, and other actions that ranks see, keep their order.
    What a program then holds is counted anew, and its own order comes back if that is no less.
    A remark says what has been saved.

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
    `%early` is not there while both of the large values are.
  }];
  let dependentDialects = ["::braid::exec::ExecDialect"];
}

#endif // BRAID_PASSES_MEMORY_PEAKORDER
