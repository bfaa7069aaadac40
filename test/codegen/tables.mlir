// Kernels over rows are launched over tables, too: one over any number of rows, for tensors with
// different numbers of them; one over all rows of each lane, for tensors of one shape.
// RUN: braidc %s --emit=cpp | FileCheck %s
// RUN: braidc %s -o %t
// RUN: %t run --program train --outputs %t.1 --threads 1 && braid-interp %s --function=train --inputs=%t.1 --expect=%t.1
// RUN: %t run --program train --outputs %t.3 --threads 3 && cmp %t.1 %t.3

// CHECK-LABEL: // squares: any number of rows of 100 lanes; from tables.mlir
// CHECK-NEXT: static void squares_kernel(Block block, const float *__restrict a0,
// CHECK-NEXT:                            float *__restrict o0) {
// CHECK-NEXT:   constexpr int64_t L = 100;
// CHECK-NEXT:   for (int64_t r = block.begin; r < block.end; ++r) {
// CHECK-NEXT:     V sum0 = splat(0.0f);
// CHECK-NEXT:     lanes(0, L, [&](int64_t l, auto n) {
// CHECK-NEXT:       V t0 = ld(a0 + r * L + l, n);
// CHECK:          st1(o0 + r, t2);
// CHECK: static constexpr Tuple<2> squares_kernel_table0[] = {
// CHECK-NEXT:     {80, {x, sx}}, // sx
// CHECK-NEXT:     {1, {y, sy}}, // sy
// CHECK-NEXT: };
// CHECK: static constexpr Tuple<2> columns_kernel_table1[] = {
// CHECK-NEXT:     {200, {x, cx}}, // cx
// CHECK-NEXT:     {200, {x + 16000, cy}}, // cy
// CHECK-NEXT: };
// CHECK: launch_table<1>(ctx, m, squares_kernel_table0, squares_kernel, 100);
// CHECK: launch_table(ctx, m, columns_kernel_table1, columns_kernel, 20);
// CHECK: launch_rows(ctx, 2, 100, squares_kernel, m[x], m[sz]);
// CHECK: launch_lanes(ctx, 20, 200, columns_kernel, m[x], m[cz]);

#e = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
#l = affine_map<(i, j) -> (j)>
exec.kernel_def @squares space [1, 100] flat layouts [!exec.ref<1x100xf32, [100, 1]>, !exec.ref<1xf32, [1]>] ties [-1] {
^bb0(%a: tensor<1x100xf32>):
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1xf32>) -> tensor<1xf32>
  %s = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"], exec.dims = array<i64: 0, 1>}
      ins(%a : tensor<1x100xf32>) outs(%f : tensor<1xf32>) {
  ^bb0(%u: f32, %o: f32):
    %m = arith.mulf %u, %u : f32
    %n = arith.addf %m, %o : f32
    linalg.yield %n : f32
  } -> tensor<1xf32>
  exec.yield %s : tensor<1xf32>
}
exec.kernel_def @columns space [20, 200] layouts [!exec.ref<20x200xf32, [200, 1]>, !exec.ref<200xf32, [1]>] ties [-1] {
^bb0(%a: tensor<20x200xf32>):
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<200xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<200xf32>) -> tensor<200xf32>
  %s = linalg.generic {indexing_maps = [#e, #l], iterator_types = ["reduction", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%a : tensor<20x200xf32>) outs(%f : tensor<200xf32>) {
  ^bb0(%u: f32, %o: f32):
    %n = arith.addf %u, %o : f32
    linalg.yield %n : f32
  } -> tensor<200xf32>
  exec.yield %s : tensor<200xf32>
}
exec.program @train arena 35584 {
  exec.buffer @x at 0 bytes 32000 live -1 to 4 category inputs name "x" "input" role "x" : tensor<80x100xf32>
  exec.buffer @y at 32000 bytes 400 live -1 to 4 category inputs name "y" "input" role "y" : tensor<1x100xf32>
  exec.buffer @sx at 32512 bytes 320 live 0 to 4 category activations name "sx" "result" role "sx" : tensor<80xf32>
  exec.buffer @sy at 32832 bytes 4 live 0 to 4 category activations name "sy" "result" role "sy" : tensor<1xf32>
  exec.buffer @cx at 33024 bytes 800 live 1 to 4 category activations name "cx" "result" role "cx" : tensor<200xf32>
  exec.buffer @cy at 33856 bytes 800 live 1 to 4 category activations name "cy" "result" role "cy" : tensor<200xf32>
  exec.buffer @sz at 34688 bytes 8 live 2 to 4 category activations name "sz" "result" role "sz" : tensor<2xf32>
  exec.buffer @cz at 34752 bytes 800 live 3 to 4 category activations name "cz" "result" role "cz" : tensor<200xf32>
  %x = exec.ref @x + 0 : !exec.ref<80x100xf32, [100, 1]>
  %y = exec.ref @y + 0 : !exec.ref<1x100xf32, [100, 1]>
  %z = exec.ref @x + 0 : !exec.ref<2x100xf32, [100, 1]>
  %u = exec.ref @x + 0 : !exec.ref<20x200xf32, [200, 1]>
  %v = exec.ref @x + 16000 : !exec.ref<20x200xf32, [200, 1]>
  %sx = exec.ref @sx + 0 : !exec.ref<80xf32, [1]>
  %sy = exec.ref @sy + 0 : !exec.ref<1xf32, [1]>
  %cx = exec.ref @cx + 0 : !exec.ref<200xf32, [1]>
  %cy = exec.ref @cy + 0 : !exec.ref<200xf32, [1]>
  %sz = exec.ref @sz + 0 : !exec.ref<2xf32, [1]>
  %cz = exec.ref @cz + 0 : !exec.ref<200xf32, [1]>
  exec.launch @squares batch 2 (%x, %y) outs (%sx, %sy)
      : !exec.ref<80x100xf32, [100, 1]>, !exec.ref<1x100xf32, [100, 1]> -> !exec.ref<80xf32, [1]>, !exec.ref<1xf32, [1]>
  exec.launch @columns batch 2 (%u, %v) outs (%cx, %cy)
      : !exec.ref<20x200xf32, [200, 1]>, !exec.ref<20x200xf32, [200, 1]> -> !exec.ref<200xf32, [1]>, !exec.ref<200xf32, [1]>
  exec.launch @squares batch 1 (%z) outs (%sz) : !exec.ref<2x100xf32, [100, 1]> -> !exec.ref<2xf32, [1]>
  exec.launch @columns batch 1 (%u) outs (%cz) : !exec.ref<20x200xf32, [200, 1]> -> !exec.ref<200xf32, [1]>
}
