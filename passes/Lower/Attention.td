//===- Attention.td - attention as a call or as its definition -*- tablegen -*-===//
#ifndef BRAID_PASSES_LOWER_ATTENTION
#define BRAID_PASSES_LOWER_ATTENTION

include "passes/Lower/Actions.td"

def SelectAttentionPass : TargetPass<"exec-select-attention", "::mlir::func::FuncOp"> {
  let summary = "Calls the target's library for attention where it can";
  let description = [{
    Runs before `tg-decompose`, on the shapes of a rank: heads and batch may be a
    part.  `tg.attention` and `tg.attention_grad` become library calls, which keep
    the scores on chip, where the target has a library for their element type and
    head size; others are left for their decomposition.  A remark says which and
    why.  The log-sum-exp is the same number either way, so forward and backward
    are chosen one by one.

    With `required`, attention that no library takes is an error.

    Input:
    ```mlir
    module attributes {exec.target = #exec.target<"cuda">} {
      func.func @f(%q: tensor<2x8x4x16xbf16>, %k: tensor<2x8x2x16xbf16>, %v: tensor<2x8x2x16xbf16>) -> tensor<2x8x4x16xbf16> {
        %o, %lse = tg.attention %q, %k, %v scale 0.25 causal
            : (tensor<2x8x4x16xbf16>, tensor<2x8x2x16xbf16>, tensor<2x8x2x16xbf16>) -> (tensor<2x8x4x16xbf16>, tensor<2x4x8xf32>)
        return %o : tensor<2x8x4x16xbf16>
      }
    }
    ```
    Output:
    ```mlir
    module attributes {exec.target = #exec.target<"cuda">} {
      func.func @f(%q: tensor<2x8x4x16xbf16>, %k: tensor<2x8x2x16xbf16>, %v: tensor<2x8x2x16xbf16>) -> tensor<2x8x4x16xbf16> {
        %o, %lse = exec.attention(%q, %k, %v) scale 0.25 causal
            : (tensor<2x8x4x16xbf16>, tensor<2x8x2x16xbf16>, tensor<2x8x2x16xbf16>) -> tensor<2x8x4x16xbf16>, tensor<2x4x8xf32>
        return %o : tensor<2x8x4x16xbf16>
      }
    }
    ```
  }];
  let options = [Option<"required", "required", "bool", /*default=*/"false", "Fail where no library takes it">];
}

#endif // BRAID_PASSES_LOWER_ATTENTION
