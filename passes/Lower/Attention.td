//===- Attention.td - attention as a call or as its definition -*- tablegen -*-===//
#ifndef BRAID_PASSES_LOWER_ATTENTION
#define BRAID_PASSES_LOWER_ATTENTION

include "passes/Lower/Target.td"

def SelectAttentionPass : TargetPass<"exec-select-attention", "::mlir::func::FuncOp"> {
  let summary = "Makes attention a library call, or tiles of generated code";
  let description = [{
    Runs before `tg-decompose`, on the shapes of a rank: heads and batch may be a
    part.  `tg.attention` and `tg.attention_grad` become calls, which keep the scores
    on chip: of the target's library, or of generated code, by tiles.  A remark says which and
    why.  The log-sum-exp is the same number either way, so forward and backward
    are chosen one by one.

    | `way` | |
    |---|---|
    | `auto` | the library where the target has one that takes the element type, head size and mask; else tiles, which take f32 and bf16 and every mask; else it is left for its decomposition |
    | `library`, `tiles` | that, or an error |
    | `decompose` | all is left |

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
    Option<"way", "way", "::braid::AttentionWay", "::braid::AttentionWay::Auto", "auto, library, tiles or decompose",
           [{::llvm::cl::values(clEnumValN(::braid::AttentionWay::Auto, "auto", "the library, else tiles"),
                                clEnumValN(::braid::AttentionWay::Library, "library", "the library, or an error"),
                                clEnumValN(::braid::AttentionWay::Tiles, "tiles", "tiles, or an error"),
                                clEnumValN(::braid::AttentionWay::Decompose, "decompose", "left as it is"))}]>,
  ];
}

def OrderAttentionPass : TargetPass<"exec-order-attention", "::mlir::ModuleOp"> {
  let summary = "Chooses the order in which library calls of attention sum gradients";
  let description = [{
    Many blocks of keys add to one row of dq.  A fixed order gives the same bits in every run;
    below sm_100 the library writes down the gradient of all scores for it, batch x heads x
    queries x keys elements.

    `fixed`, `serial` and `any` set that order of all calls (see `exec.attention_grad`).  `auto`
    plans the memory and predicts the time of all programs in both ways.  The order is fixed, unless
    that takes more than 2 % of the predicted time or a tenth of the arena, or exceeds the memory
    limit, or the scores have more elements than the library can count.  A remark names the choice,
    the bytes and the milliseconds.  For ranks, memory is that before communication is moved, and
    time is that of computing.

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
    Option<"order", "order", "::braid::AttentionOrder", "::braid::AttentionOrder::Auto", "auto, fixed, serial or any",
           [{::llvm::cl::values(clEnumValN(::braid::AttentionOrder::Auto, "auto", "fixed, unless that costs time or memory"),
                                clEnumValN(::braid::AttentionOrder::Fixed, "fixed", "the same bits in every run"),
                                clEnumValN(::braid::AttentionOrder::Serial, "serial", "the same bits, slower, with less memory"),
                                clEnumValN(::braid::AttentionOrder::Any, "any", "bits that differ from run to run"))}]>,
    Option<"memoryLimit", "memory-limit", "std::string", "\"\"",
           "For auto: the arena that there may be, in bytes or with a unit (512MiB, 2G); empty for no limit">,
    Option<"rowAlignment", "row-alignment", "::braid::Integer<-1, 1048576>", "-1",
           "For auto: as in exec-plan-memory">,
  ];
}

def VerifyLibrarySizesPass : Pass<"exec-verify-library-sizes", "::mlir::func::FuncOp"> {
  let summary = "Fails if a library call has sizes that its library cannot count";
  let description = [{
    GEMM libraries take sizes below 2^31, attention libraries tensors of fewer than 2^31
    elements, and some of them do not check it.  Each action says which of its numbers are
    such (`getLibraryNumbers`), by what the target's libraries write down: scores, for a fixed
    order of the sums of attention, are in memory on some GPUs alone.  The error has the number and, where it grows with the batch,
    the batch that fits.  Changes nothing.

    Leaves:
    ```mlir
    func.func @f(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>) -> tensor<4x16xf32> {
      %y = exec.matmul "bd,fd->bf"(%x, %w) : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x16xf32>
      return %y : tensor<4x16xf32>
    }
    ```
  }];
}

#endif // BRAID_PASSES_LOWER_ATTENTION
