//===- Attention.td - attention as a call or as its definition -*- tablegen -*-===//
#ifndef BRAID_PASSES_SELECT_ATTENTION
#define BRAID_PASSES_SELECT_ATTENTION

include "passes/Select/TargetPass.td"

def SelectAttentionPass : TargetPass<"exec-select-attention", "::mlir::func::FuncOp"> {
  let summary = "Selects a library call or tiles of generated code for attention";
  let description = [{
    Runs before `tg-decompose`, on the shapes of a rank: a rank may have a part of the heads and of the batch.
    `tg.attention` and `tg.attention_grad` become calls that keep the scores on chip: calls of the target's library,
    or of generated code, by tiles. A remark gives the choice and the reason. Both compute the same log-sum-exp, so
    forward and backward are chosen separately.

    | `way` | |
    |---|---|
    | `auto` | the library if the target has one for the element type, head size and mask; else tiles, which take f32 and bf16 and every mask; else the decomposition |
    | `library`, `tiles` | this choice, or an error |
    | `decompose` | every op is left for its decomposition |

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
  let options = [
    Flag<"Kernel", "--attention", "attention", "method", "way", "::braid::AttentionMethod",
         "::braid::AttentionMethod::Auto",
         "Implementation of attention">,
  ];
}

def OrderAttentionPass : TargetPass<"exec-order-attention", "::mlir::ModuleOp"> {
  let summary = "Chooses the order in which library calls of attention sum gradients";
  let description = [{
    Many blocks of keys add to one row of dq. A fixed order gives the same bits in every run; below sm_100 it makes
    the library store the gradient of all scores, batch x heads x queries x keys elements.

    `fixed`, `serial` and `any` set the order of all calls (see `exec.attention_grad`). `auto` plans the memory and
    predicts the time of all programs for both `fixed` and `any`. It chooses `fixed`, unless that takes more than 2
    % of the predicted time or a tenth of the arena, exceeds the memory limit, or makes the scores have more
    elements than the library can count. A remark names the choice, the bytes and the milliseconds. For programs of
    ranks, memory is planned before communication is moved, and time is the time of computation.

    Input (`order=any`):
    ```mlir
    module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
      func.func @f(%q: tensor<2x8x4x16xbf16>, %lse: tensor<2x4x8xf32>) -> tensor<2x8x4x16xbf16> {
        %dq, %dk, %dv = exec.attention_grad(%q, %q, %q, %q, %lse, %q) scale 0.25 causal
            : (tensor<2x8x4x16xbf16>, tensor<2x8x4x16xbf16>, tensor<2x8x4x16xbf16>, tensor<2x8x4x16xbf16>, tensor<2x4x8xf32>, tensor<2x8x4x16xbf16>)
            -> tensor<2x8x4x16xbf16>, tensor<2x8x4x16xbf16>, tensor<2x8x4x16xbf16>
        return %dq : tensor<2x8x4x16xbf16>
      }
    }
    ```
    Output:
    ```mlir
    module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
      func.func @f(%q: tensor<2x8x4x16xbf16>, %lse: tensor<2x4x8xf32>) -> tensor<2x8x4x16xbf16> {
        %dq, %dk, %dv = exec.attention_grad(%q, %q, %q, %q, %lse, %q) scale 0.25 causal order any
            : (tensor<2x8x4x16xbf16>, tensor<2x8x4x16xbf16>, tensor<2x8x4x16xbf16>, tensor<2x8x4x16xbf16>, tensor<2x4x8xf32>, tensor<2x8x4x16xbf16>)
            -> tensor<2x8x4x16xbf16>, tensor<2x8x4x16xbf16>, tensor<2x8x4x16xbf16>
        return %dq : tensor<2x8x4x16xbf16>
      }
    }
    ```
  }];
  let options = [
    Flag<"Kernel", "--attention-order", "attentionOrder", "order", "order", "::braid::AttentionOrder",
         "::braid::AttentionOrder::Auto", "Order in which the attention library sums gradients">,
    Option<"memoryLimit", "memory-limit", "std::string", "\"\"",
           "For auto: limit of the arena, in bytes or with a unit (512MiB, 2G); empty for no limit">,
    Option<"rowAlignment", "row-alignment", "::braid::Integer<-1, 1048576>", "-1",
           "For auto: alignment of rows in bytes, as in exec-plan-memory">,
  ];
}

def VerifyLibrarySizesPass : Pass<"exec-verify-library-sizes", "::mlir::func::FuncOp"> {
  let summary = "Fails if a library call has sizes that its library cannot count";
  let description = [{
    GEMM libraries take sizes below 2^31, attention libraries tensors of fewer than 2^31 elements, and some of them
    do not check it. Each action lists its numbers of this kind (`getLibraryNumbers`). They depend on the buffers of
    the target's libraries: a fixed order of the sums of attention stores the scores only on some GPUs. The error
    gives the number and, if it grows with the batch, the largest batch that fits. Changes nothing.

    Leaves:
    ```mlir
    func.func @f(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>) -> tensor<4x16xf32> {
      %y = exec.matmul "bd,fd->bf"(%x, %w) : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x16xf32>
      return %y : tensor<4x16xf32>
    }
    ```
  }];
}

#endif // BRAID_PASSES_SELECT_ATTENTION
