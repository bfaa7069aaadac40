//===- Panels.td - operands in the library's layout ----------*- tablegen -*-===//
#ifndef BRAID_PASSES_ARENA_PANELS
#define BRAID_PASSES_ARENA_PANELS

include "mlir/Pass/PassBase.td"

def CopyPanelsPass : Pass<"exec-copy-panels", "::mlir::ModuleOp"> {
  let summary = "Marks matmuls that copy an operand into panels before they multiply";
  let description = [{
    Instructions that multiply pairs of bf16 need pairs of numbers along the contracted dim, next to the pairs of
    neighbouring columns of the result. No matrix lies in memory like this. So a GEMM library copies the right
    operand into panels of some columns, a part at a time, and repeats the copy for each block of rows of the
    result.

    A matmul whose result has many rows is marked `exec.panels`: the call copies its right operand into scratch memory
    once, before the product. `panelRows` of the target's row is the least number of rows (0: never, as on a GPU). The
    gradient of a weight has as many rows as the weight, and its right operand, the activations, is small. Other matmuls
    have one row for each token.

    Matmuls of other types, matmuls of many matrices, and matmuls whose panels are not smaller than their scratch
    memory are left alone. The sums are the same, and so are their bits if the library adds in the same order.

    Input:
    ```mlir
    exec.program @train arena 15204352 {
      exec.buffer @x at 0 bytes 1048576 live 0 to 1 category activations name "x" "input" role "x" : tensor<1024x512xbf16>
      exec.buffer @w at 1048576 bytes 524288 live 0 to 2 category activations name "w" "input" role "w" : tensor<512x512xbf16>
      exec.buffer @y at 1572864 bytes 1048576 live 1 to 2 category activations name "y" "result" role "y" : tensor<1024x512xbf16>
      exec.buffer @few at 2621440 bytes 65536 live 0 to 2 category activations name "few" "input" role "few" : tensor<64x512xbf16>
      exec.buffer @z at 2686976 bytes 65536 live 2 to 3 category activations name "z" "result" role "z" : tensor<64x512xbf16>
      %x = exec.ref @x + 0 : !exec.ref<1024x512xbf16, [512, 1]>
      %w = exec.ref @w + 0 : !exec.ref<512x512xbf16, [512, 1]>
      %y = exec.ref @y + 0 : !exec.ref<1024x512xbf16, [512, 1]>
      %few = exec.ref @few + 0 : !exec.ref<64x512xbf16, [512, 1]>
      %z = exec.ref @z + 0 : !exec.ref<64x512xbf16, [512, 1]>
      exec.matmul "mk,nk->mn"(%x, %w) outs(%y : !exec.ref<1024x512xbf16, [512, 1]>) : !exec.ref<1024x512xbf16, [512, 1]>, !exec.ref<512x512xbf16, [512, 1]>
      exec.matmul "mk,nk->mn"(%few, %w) outs(%z : !exec.ref<64x512xbf16, [512, 1]>) : !exec.ref<64x512xbf16, [512, 1]>, !exec.ref<512x512xbf16, [512, 1]>
    }
    ```
    Output:
    ```mlir
    exec.program @train arena 15204352 {
      exec.buffer @x at 0 bytes 1048576 live 0 to 1 category activations name "x" "input" role "x" : tensor<1024x512xbf16>
      exec.buffer @w at 1048576 bytes 524288 live 0 to 2 category activations name "w" "input" role "w" : tensor<512x512xbf16>
      exec.buffer @y at 1572864 bytes 1048576 live 1 to 2 category activations name "y" "result" role "y" : tensor<1024x512xbf16>
      exec.buffer @few at 2621440 bytes 65536 live 0 to 2 category activations name "few" "input" role "few" : tensor<64x512xbf16>
      exec.buffer @z at 2686976 bytes 65536 live 2 to 3 category activations name "z" "result" role "z" : tensor<64x512xbf16>
      %x = exec.ref @x + 0 : !exec.ref<1024x512xbf16, [512, 1]>
      %w = exec.ref @w + 0 : !exec.ref<512x512xbf16, [512, 1]>
      %y = exec.ref @y + 0 : !exec.ref<1024x512xbf16, [512, 1]>
      %few = exec.ref @few + 0 : !exec.ref<64x512xbf16, [512, 1]>
      %z = exec.ref @z + 0 : !exec.ref<64x512xbf16, [512, 1]>
      exec.matmul "mk,nk->mn"(%x, %w) outs(%y : !exec.ref<1024x512xbf16, [512, 1]>) {exec.panels} : !exec.ref<1024x512xbf16, [512, 1]>, !exec.ref<512x512xbf16, [512, 1]>
      exec.matmul "mk,nk->mn"(%few, %w) outs(%z : !exec.ref<64x512xbf16, [512, 1]>) : !exec.ref<64x512xbf16, [512, 1]>, !exec.ref<512x512xbf16, [512, 1]>
    }
    ```
  }];
  let dependentDialects = ["::braid::exec::ExecDialect"];
}

#endif // BRAID_PASSES_ARENA_PANELS
