//===- MatmulSizes.td - sizes that a GEMM library is fast at --*- tablegen -*-===//
#ifndef BRAID_PASSES_ARENA_MATMULSIZES
#define BRAID_PASSES_ARENA_MATMULSIZES

include "mlir/Pass/PassBase.td"

def SplitMatmulsPass : Pass<"exec-split-matmuls", "::mlir::ModuleOp"> {
  let summary = "Marks large matmuls whose last rows or columns need a second call";
  let description = [{
    cuBLASLt has kernels for Hopper only for matrices whose contiguous dims are multiples of 16 bytes. For example,
    the 50257 rows of the gradient of GPT-2's embedding are contiguous in the gradient of the logits. On an H100
    this matmul took 10.3 ms in a kernel for Ampere, at 492 TFLOP/s; with 50304 rows matmuls reach 800.

    A large matmul whose rows or columns break this rule is marked `exec.rows_apart` or `exec.columns_apart`, with
    the number of last rows or columns beyond a multiple. The generated step makes two calls, one for the multiple
    and one for the rest. Every element of the result is the same sum as before; the library may add its terms in
    another order.

    The target's row has the multiple (`matmulMultiple`; 0: the library has no such rule, as on a CPU).

    These are left alone:

    * matmuls with a bias, an epilogue or another result;
    * matmuls of many matrices;
    * matmuls with fewer than `least-work` multiplications or fewer than 1024 such rows or columns;
    * dims that are summed over, because a second call would round the sum twice.

    Input:
    ```mlir
    module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
      exec.program @train arena 6848498688 {
        exec.buffer @dy at 0 bytes 6593445888 live 0 to 1 category activations name "dy" padding 6160384
        exec.buffer @x at 6593445888 bytes 100663296 live 0 to 1 category activations name "x"
        exec.buffer @dw at 6694109184 bytes 154389504 live 0 to 1 category gradients name "dw" "result" role "dw" : tensor<50257x768xf32>
        %dy = exec.ref @dy + 0 : !exec.ref<65536x50257xbf16, [50304, 1]>
        %x = exec.ref @x + 0 : !exec.ref<65536x768xbf16, [768, 1]>
        %dw = exec.ref @dw + 0 : !exec.ref<50257x768xf32, [768, 1]>
        exec.matmul "tv,td->vd"(%dy, %x) outs(%dw : !exec.ref<50257x768xf32, [768, 1]>) : !exec.ref<65536x50257xbf16, [50304, 1]>, !exec.ref<65536x768xbf16, [768, 1]>
      }
    }
    ```
    Output:
    ```mlir
    module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
      exec.program @train arena 6848498688 {
        exec.buffer @dy at 0 bytes 6593445888 live 0 to 1 category activations name "dy" padding 6160384
        exec.buffer @x at 6593445888 bytes 100663296 live 0 to 1 category activations name "x"
        exec.buffer @dw at 6694109184 bytes 154389504 live 0 to 1 category gradients name "dw" "result" role "dw" : tensor<50257x768xf32>
        %dy = exec.ref @dy + 0 : !exec.ref<65536x50257xbf16, [50304, 1]>
        %x = exec.ref @x + 0 : !exec.ref<65536x768xbf16, [768, 1]>
        %dw = exec.ref @dw + 0 : !exec.ref<50257x768xf32, [768, 1]>
        exec.matmul "tv,td->vd"(%dy, %x) outs(%dw : !exec.ref<50257x768xf32, [768, 1]>) {exec.rows_apart = 1 : i64} : !exec.ref<65536x50257xbf16, [50304, 1]>, !exec.ref<65536x768xbf16, [768, 1]>
      }
    }
    ```
  }];
  let options = [
    Option<"minWork", "least-work", "::braid::Integer<1, 1152921504606846976>", "68719476736",
           "Smallest number of multiplications of a marked matmul (default: 0.2 ms of an H100)">,
  ];
  let dependentDialects = ["::braid::exec::ExecDialect"];
}

#endif // BRAID_PASSES_ARENA_MATMULSIZES
