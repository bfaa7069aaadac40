//===- Calls.td - library calls and views, on values ----------*- tablegen -*-===//
//
// Selects ops that must not be split into kernels. Order: exec-select-epilogues, while activations are whole, then
// exec-select-calls and exec-select-bias-gradients.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_SELECT_CALLS
#define BRAID_PASSES_SELECT_CALLS

include "passes/Select/TargetPass.td"

def SelectEpiloguesPass : TargetPass<"exec-select-epilogues", "::mlir::func::FuncOp"> {
  let summary = "Lets library calls apply activations to their results";
  let description = [{
    Runs before `tg-decompose`, while activations are whole. A contraction (and its bias) that only a GELU or SiLU
    reads becomes a call with that epilogue, where the target's library has it. In training the activation's operand
    is saved for backward. If the library can write it beside the activation (cuBLASLt, for GELU by tanh), the
    operand becomes the call's second result, and the gradient of GELU becomes the epilogue of the contraction
    before it. Otherwise the pass does nothing.

    Input:
    ```mlir
    func.func @f(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>) -> tensor<4x16xf32> {
      %h = tg.contract "bd,fd->bf" %x, %w : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
      %y = tg.gelu tanh %h : tensor<4x16xf32>
      return %y : tensor<4x16xf32>
    }
    ```
    Output:
    ```mlir
    func.func @f(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>) -> tensor<4x16xf32> {
      %y = exec.matmul "bd,fd->bf" (%x, %w) epilogue gelu_tanh : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x16xf32>
      return %y : tensor<4x16xf32>
    }
    ```
  }];
}

def SelectCallsPass : TargetPass<"exec-select-calls", "::mlir::func::FuncOp"> {
  let summary = "Selects library calls and views";
  let description = [{
    * `tg.contract` becomes `exec.matmul`. Operands are read through views; an operand is copied if no GEMM takes
      its strides. Contractions that are not matmuls (nothing contracted, only dot products, or a vector for each
      matrix of a batch) become elementwise products and reductions.
    * A bias added to a call's only use moves into the call.  A sum of a call and
      a tensor that dies there becomes a call that accumulates.
    * `tg.gather`, `tg.scatter_add`, `tg.concat`, `tg.pad` become their exec forms.
      A sum of disjoint pads (gradients of slices) becomes one concat.
    * `tg.slice`, `tg.transpose`, `tg.reshape` become an `exec.view` of a contiguous tensor, after a copy if strides
      cannot express them.

    Input:
    ```mlir
    func.func @f(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %b: tensor<16xf32>) -> tensor<16x4xf32> {
      %h = tg.contract "bd,fd->bf" %x, %w : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
      %c = tg.broadcast %b dims [1] : tensor<16xf32> -> tensor<4x16xf32>
      %y = arith.addf %h, %c : tensor<4x16xf32>
      %t = tg.transpose %y [1, 0] : tensor<4x16xf32> -> tensor<16x4xf32>
      return %t : tensor<16x4xf32>
    }
    ```
    Output:
    ```mlir
    func.func @f(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %b: tensor<16xf32>) -> tensor<16x4xf32> {
      %y = exec.matmul "bd,fd->bf"(%x, %w bias %b : tensor<16xf32>) : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x16xf32>
      %t = exec.view %y offset 0 strides [1, 16] : tensor<4x16xf32> -> tensor<16x4xf32>
      return %t : tensor<16x4xf32>
    }
    ```
  }];
}

def SelectBiasGradientsPass : TargetPass<"exec-select-bias-gradients", "::mlir::func::FuncOp"> {
  let summary = "Lets the matmul of a weight gradient compute the bias gradient too";
  let description = [{
    Runs after `exec-select-calls`, while reductions are ops. The gradient of a bias is the sum over all positions
    of the gradient of the layer's result. The matmul that computes the weight gradient contracts the same
    positions. Where the target's GEMM library supports it (cuBLASLt), the sum becomes the second result of that
    call, so no kernel reads the tensor only for the sum.

    A sum is left alone
    * if a kernel computes its operand, because that kernel sums the values while they
      are in registers;
    * if it is over more or fewer dims than the matmul contracts, or if its type differs
      from the type of the matmul's result;
    * if the matmul takes several library calls, each of which would restart the sum;
    * if the sum is expected to slow the call down by more time than a kernel needs to read the operand. On Hopper a
      GEMM of bf16 with such a sum takes 1.45 times as long (`biasGradSlowdown` of the target's row), so the sums of
      large layers are kernels;
    * if the matmul depends on a reader of the sum, or if a reader of the sum comes before
      the operands of the matmul.

    Accumulation over microbatches stays an op of its own: the call writes the bias
    gradient and does not accumulate.

    Input:
    ```mlir
    module attributes {exec.target = #exec.target<"cuda">} {
      func.func @f(%x: tensor<2x4x8xf32>, %dy: tensor<2x4x16xf32>) -> (tensor<16x8xf32>, tensor<16xf32>) {
        %dw = exec.matmul "bsd,bsf->fd"(%x, %dy) : tensor<2x4x8xf32>, tensor<2x4x16xf32> -> tensor<16x8xf32>
        %db = tg.reduce sum %dy dims [0, 1] : tensor<2x4x16xf32> -> tensor<16xf32>
        return %dw, %db : tensor<16x8xf32>, tensor<16xf32>
      }
    }
    ```
    Output:
    ```mlir
    module attributes {exec.target = #exec.target<"cuda">} {
      func.func @f(%x: tensor<2x4x8xf32>, %dy: tensor<2x4x16xf32>) -> (tensor<16x8xf32>, tensor<16xf32>) {
        %dw, %db = exec.matmul "bsd,bsf->fd"(%x, %dy) bias_grad rhs : tensor<2x4x8xf32>, tensor<2x4x16xf32> -> tensor<16x8xf32>, tensor<16xf32>
        return %dw, %db : tensor<16x8xf32>, tensor<16xf32>
      }
    }
    ```
  }];
}

def SelectAddendsPass : TargetPass<"exec-select-addends", "::mlir::func::FuncOp"> {
  let summary = "Lets a matmul add the residual to its result";
  let description = [{
    Runs after `exec-select-calls` and `exec-select-bias-gradients`, while sums are ops. A residual connection adds
    the result of a projection to the residual stream. If the target's GEMM library can add a tensor that lies apart
    from its result (cuBLASLt: C with beta 1), the matmul reads the residual and writes the sum. The kernel behind
    it, often a norm, then reads one tensor instead of two, and writes one instead of two. The sum is rounded once,
    from f32.

    A sum is left alone
    * if anything else reads the matmul's result, or anything stands between them, such as
      dropout or a reduction over ranks;
    * if the matmul has an activation, accumulates, keeps a second result or takes several
      library calls that add up;
    * if the other operand is made after the matmul, which would have to wait for it;
    * if the other operand need not be in memory: if it is cheap to compute again, a view, or computed by a kernel
      only for this sum. Such a kernel adds while the values are in registers.

    Input:
    ```mlir
    module attributes {exec.target = #exec.target<"cuda">} {
      func.func @f(%x: tensor<2x4x8xf32>, %y: tensor<2x4x16xf32>, %w: tensor<8x16xf32>, %b: tensor<8xf32>) -> tensor<2x4x8xf32> {
        %projected = exec.matmul "bsf,df->bsd"(%y, %w bias %b : tensor<8xf32>) : tensor<2x4x16xf32>, tensor<8x16xf32> -> tensor<2x4x8xf32>
        %sum = arith.addf %x, %projected : tensor<2x4x8xf32>
        return %sum : tensor<2x4x8xf32>
      }
    }
    ```
    Output:
    ```mlir
    module attributes {exec.target = #exec.target<"cuda">} {
      func.func @f(%x: tensor<2x4x8xf32>, %y: tensor<2x4x16xf32>, %w: tensor<8x16xf32>, %b: tensor<8xf32>) -> tensor<2x4x8xf32> {
        %sum = exec.matmul "bsf,df->bsd"(%y, %w bias %b : tensor<8xf32> addend %x : tensor<2x4x8xf32>) : tensor<2x4x16xf32>, tensor<8x16xf32> -> tensor<2x4x8xf32>
        return %sum : tensor<2x4x8xf32>
      }
    }
    ```
  }];
}

#endif // BRAID_PASSES_SELECT_CALLS
