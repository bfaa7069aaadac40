// A value that is expensive and read in two phases is kept on the stack; lanes that
// no vector width divides run in one copy of the loop body; a result may lie over an
// operand once nothing reads that any more.
// RUN: braidc %s --emit=cpp | FileCheck %s
// RUN: braidc %s -o %t.native --cpu=native
// RUN: %t.native run --program run_softmax --outputs %t.st --threads 2 && braid-interp %s --function=run_softmax --inputs=%t.st --expect=%t.st
// RUN: braidc %s -o %t.x8664v3 --cpu=x86-64-v3
// RUN: %t.x8664v3 run --program run_softmax --outputs %t.st --threads 2 && braid-interp %s --function=run_softmax --inputs=%t.st --expect=%t.st
// RUN: braidc %s -o %t.x8664 --cpu=x86-64
// RUN: %t.x8664 run --program run_softmax --outputs %t.st --threads 2 && braid-interp %s --function=run_softmax --inputs=%t.st --expect=%t.st

// CHECK-LABEL: // softmax: 6 rows of 100 lanes
// CHECK-NEXT: static void softmax_kernel(Block block, float *__restrict io0) {
// CHECK-NEXT:   constexpr int64_t L = 100;
// CHECK-NEXT:   V kept0[(L + W - 1) / W];
// CHECK-NEXT:   for (int64_t r = block.begin; r < block.end; ++r) {
// CHECK-NEXT:     V max0 = splat(-INFINITY);
// CHECK-NEXT:     lanes(0, L, [&](int64_t l, auto n) {
// CHECK-NEXT:       V t0 = ld(io0 + r * L + l, n);
// CHECK-NEXT:       max0 = maximum(max0, keep(t0, n, -INFINITY));
// CHECK-NEXT:     });
// CHECK-NEXT:     float t1 = row_max(max0);
// CHECK-NEXT:     V sum0 = splat(0.0f);
// CHECK-NEXT:     lanes(0, L, [&](int64_t l, auto n) {
// CHECK-NEXT:       V t2 = ld(io0 + r * L + l, n);
// CHECK-NEXT:       V t3 = t2 - t1;
// CHECK-NEXT:       V t4 = exp(t3);
// CHECK-NEXT:       kept0[l / W] = t4;
// CHECK-NEXT:       sum0 += keep(t4, n, 0.0f);
// CHECK-NEXT:     });
// CHECK-NEXT:     float t5 = row_sum(sum0);
// CHECK-NEXT:     lanes(0, L, [&](int64_t l, auto n) {
// CHECK-NEXT:       V t6 = kept0[l / W];
// CHECK-NEXT:       V t7 = t6 / t5;
// CHECK-NEXT:       st(io0 + r * L + l, t7, n);
// CHECK-NEXT:     });
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK: launch_rows(ctx, 6, 100, softmax_kernel, m[softmax_p0]);

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
exec.kernel_def @softmax space [6, 100] layouts [!exec.ref<6x100xf32, [100, 1]>, !exec.ref<6x100xf32, [100, 1]>] ties [0] {
^bb0(%x: tensor<6x100xf32>):
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %er = tensor.empty() : tensor<6xf32>
  %e = tensor.empty() : tensor<6x100xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%er : tensor<6xf32>) -> tensor<6xf32>
  %fm = linalg.fill ins(%low : f32) outs(%er : tensor<6xf32>) -> tensor<6xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"], exec.dims = array<i64: 0, 1>}
      ins(%x : tensor<6x100xf32>) outs(%fm : tensor<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<6xf32>
  %exp = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %max : tensor<6x100xf32>, tensor<6xf32>) outs(%e : tensor<6x100xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %s = arith.subf %a, %m : f32
    %t = math.exp %s : f32
    linalg.yield %t : f32
  } -> tensor<6x100xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"], exec.dims = array<i64: 0, 1>}
      ins(%exp : tensor<6x100xf32>) outs(%fs : tensor<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<6xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%exp, %sum : tensor<6x100xf32>, tensor<6xf32>) outs(%e : tensor<6x100xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %s = arith.divf %a, %m : f32
    linalg.yield %s : f32
  } -> tensor<6x100xf32>
  exec.yield %y : tensor<6x100xf32>
}
exec.tensor @softmax_p0 at 0 bytes 2432 category parameters : tensor<6x100xf32> = #tg.param<"softmax_p0", #tg.init<zeros>>
exec.program @run_softmax arena 2432 {
  %i0 = exec.ref @softmax_p0 + 0 : !exec.ref<6x100xf32, [100, 1]>
  exec.launch @softmax batch 1 (%i0) outs(%i0)
      : !exec.ref<6x100xf32, [100, 1]> -> !exec.ref<6x100xf32, [100, 1]>
}
