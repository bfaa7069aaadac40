// A launch that no GPU can start is refused when code is generated.
// RUN: split-file %s %t
// RUN: not braidc %t/sums.mlir --target=cuda:sm_90 --emit=cu 2>&1 | FileCheck %s --check-prefix=SUMS
// SUMS: sums.mlir:{{[0-9]+}}:3: error: kernel 'partial' is launched with 3000000000 blocks, but sm_90 allows at most 2147483647: build the graph with a smaller batch
// RUN: not braidc %t/table.mlir --target=cuda:sm_80 --emit=cu 2>&1 | FileCheck %s --check-prefix=TABLE
// TABLE: table.mlir:{{[0-9]+}}:3: error: kernel 'squares' is launched with {{[0-9]+}} blocks, but sm_80 allows at most 2147483647: build the graph with a smaller batch

// A CPU has no such limit.
// RUN: braidc %t/sums.mlir --emit=cpp | FileCheck %s --check-prefix=CPU
// CPU: launch_blocks(ctx, 3000000000, 2, 8, partial_kernel

//--- sums.mlir
#all = affine_map<(i, j, k) -> (i, j, k)>
#block = affine_map<(i, j, k) -> (i, k)>
exec.kernel_def @partial space [3000000000, 2, 8] layouts [!exec.ref<3000000000x2x8xf32, [16, 8, 1]>, !exec.ref<3000000000x8xf32, [8, 1]>] ties [-1] {
^bb0(%x: tensor<3000000000x2x8xf32>):
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3000000000x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3000000000x8xf32>) -> tensor<3000000000x8xf32>
  %sum = linalg.generic {indexing_maps = [#all, #block], iterator_types = ["parallel", "reduction", "parallel"], exec.dims = array<i64: 0, 1, 2>}
      ins(%x : tensor<3000000000x2x8xf32>) outs(%f : tensor<3000000000x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<3000000000x8xf32>
  exec.yield %sum : tensor<3000000000x8xf32>
}
exec.program @sums arena 288000000000 {
  exec.buffer @x at 0 bytes 192000000000 live -1 to 0 category inputs name "x" "input" role "x" : tensor<3000000000x2x8xf32>
  exec.buffer @p at 192000000000 bytes 96000000000 live 0 to 1 category activations name "p" "result" role "p" : tensor<3000000000x8xf32>
  %x = exec.ref @x + 0 : !exec.ref<3000000000x2x8xf32, [16, 8, 1]>
  %p = exec.ref @p + 0 : !exec.ref<3000000000x8xf32, [8, 1]>
  exec.launch @partial batch 1 (%x) outs(%p) : !exec.ref<3000000000x2x8xf32, [16, 8, 1]> -> !exec.ref<3000000000x8xf32, [8, 1]>
}
//--- table.mlir
#e = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
exec.kernel_def @squares space [1, 8] flat layouts [!exec.ref<1x8xf32, [8, 1]>, !exec.ref<1xf32, [1]>] ties [-1] {
^bb0(%a: tensor<1x8xf32>):
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1xf32>) -> tensor<1xf32>
  %s = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"], exec.dims = array<i64: 0, 1>}
      ins(%a : tensor<1x8xf32>) outs(%f : tensor<1xf32>) {
  ^bb0(%u: f32, %o: f32):
    %m = arith.mulf %u, %u : f32
    %n = arith.addf %m, %o : f32
    linalg.yield %n : f32
  } -> tensor<1xf32>
  exec.yield %s : tensor<1xf32>
}
exec.program @rows arena 36000000000000 {
  exec.buffer @x at 0 bytes 32000000000000 live -1 to 0 category inputs name "x" "input" role "x" : tensor<1000000000000x8xf32>
  exec.buffer @s at 32000000000000 bytes 4000000000000 live 0 to 1 category activations name "s" "result" role "s" : tensor<1000000000000xf32>
  %x = exec.ref @x + 0 : !exec.ref<1000000000000x8xf32, [8, 1]>
  %s = exec.ref @s + 0 : !exec.ref<1000000000000xf32, [1]>
  exec.launch @squares batch 1 (%x) outs(%s) : !exec.ref<1000000000000x8xf32, [8, 1]> -> !exec.ref<1000000000000xf32, [1]>
}
