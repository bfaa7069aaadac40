// Reductions over rows: one partial sum for each block, beside a reduction over lanes
// and an elementwise result in place; and the kernel that sums the partials, which
// runs over lanes with the rows inside.
// RUN: braidc %s --emit=cpp | FileCheck %s
// RUN: braidc %s -o %t.native --cpu=native
// RUN: %t.native run --program run_scale_grad --outputs %t.st --threads 2 && braid-interp %s --function=run_scale_grad --inputs=%t.st --expect=%t.st
// RUN: %t.native run --program run_finish --outputs %t.st --threads 2 && braid-interp %s --function=run_finish --inputs=%t.st --expect=%t.st
// RUN: braidc %s -o %t.x8664v3 --cpu=x86-64-v3
// RUN: %t.x8664v3 run --program run_scale_grad --outputs %t.st --threads 2 && braid-interp %s --function=run_scale_grad --inputs=%t.st --expect=%t.st
// RUN: %t.x8664v3 run --program run_finish --outputs %t.st --threads 2 && braid-interp %s --function=run_finish --inputs=%t.st --expect=%t.st
// RUN: braidc %s -o %t.x8664 --cpu=x86-64
// RUN: %t.x8664 run --program run_scale_grad --outputs %t.st --threads 2 && braid-interp %s --function=run_scale_grad --inputs=%t.st --expect=%t.st
// RUN: %t.x8664 run --program run_finish --outputs %t.st --threads 2 && braid-interp %s --function=run_finish --inputs=%t.st --expect=%t.st

// CHECK-LABEL: // scale_grad: 4 x 8 rows of 36 lanes, 4 blocks
// CHECK-NEXT: static void scale_grad_kernel(Block block, float *__restrict io0,
// CHECK-NEXT:                               const float *__restrict a1,
// CHECK-NEXT:                               const float *__restrict a2, float *__restrict o1,
// CHECK-NEXT:                               float *__restrict o2) {
// CHECK-NEXT:   constexpr int64_t L = 36;
// CHECK-NEXT:   V sum0[(L + W - 1) / W] = {};
// CHECK-NEXT:   V max0[(L + W - 1) / W];
// CHECK-NEXT:   for (V &v : max0)
// CHECK-NEXT:     v = splat(-INFINITY);
// CHECK-NEXT:   for (int64_t r = block.begin; r < block.end; ++r) {
// CHECK-NEXT:     V sum1 = splat(0.0f);
// CHECK-NEXT:     lanes(0, L, [&](int64_t l, auto n) {
// CHECK-NEXT:       V t0 = ld(io0 + r * L + l, n);
// CHECK-NEXT:       V t1 = ld(a1 + r * L + l, n);
// CHECK-NEXT:       V t2 = t0 * t1;
// CHECK-NEXT:       sum1 += keep(t2, n, 0.0f);
// CHECK-NEXT:       sum0[l / W] += t2;
// CHECK-NEXT:     });
// CHECK-NEXT:     float t3 = row_sum(sum1);
// CHECK-NEXT:     lanes(0, L, [&](int64_t l, auto n) {
// CHECK-NEXT:       V t4 = ld(io0 + r * L + l, n);
// CHECK-NEXT:       V t5 = ld(a2 + l, n);
// CHECK-NEXT:       V t7 = ld(a1 + r * L + l, n);
// CHECK-NEXT:       V t6 = t4 * t5;
// CHECK-NEXT:       V t8 = t7 * t3;
// CHECK-NEXT:       V t9 = t6 - t8;
// CHECK-NEXT:       max0[l / W] = maximum(max0[l / W], t9);
// CHECK-NEXT:       st(io0 + r * L + l, t9, n);
// CHECK-NEXT:     });
// CHECK-NEXT:   }
// CHECK-NEXT:   lanes(0, L, [&](int64_t l, auto n) {
// CHECK-NEXT:     st(o1 + block.id * L + l, sum0[l / W], n);
// CHECK-NEXT:     st(o2 + block.id * L + l, max0[l / W], n);
// CHECK-NEXT:   });
// CHECK-NEXT: }
// CHECK-LABEL: // finish: 4 rows of 36 lanes
// CHECK-NEXT: static void finish_kernel(Block block, const float *__restrict a0,
// CHECK-NEXT:                           float *__restrict o0) {
// CHECK-NEXT:   lanes(block.begin, block.end, [&](int64_t l, auto n) {
// CHECK-NEXT:     V sum0 = splat(0.0f);
// CHECK-NEXT:     for (int64_t r = 0; r < 4; ++r) {
// CHECK-NEXT:       V t0 = ld(a0 + r * 36 + l, n);
// CHECK-NEXT:       sum0 += t0;
// CHECK-NEXT:     }
// CHECK-NEXT:     st(o0 + l, sum0, n);
// CHECK-NEXT:   });
// CHECK-NEXT: }
// CHECK: launch_blocks(ctx, 4, 8, 36, scale_grad_kernel, m[scale_grad_p0], m[x1],
// CHECK: launch_lanes(ctx, 4, 36, finish_kernel, m[x0], m[y0]);

#id = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>
#blk = affine_map<(b, i, j) -> (b, j)>
#lane = affine_map<(b, i, j) -> (j)>
exec.kernel_def @scale_grad space [4, 8, 36] layouts [!exec.ref<4x8x36xf32, [288, 36, 1]>, !exec.ref<4x8x36xf32, [288, 36, 1]>, !exec.ref<36xf32, [1]>,
    !exec.ref<4x8x36xf32, [288, 36, 1]>, !exec.ref<4x36xf32, [36, 1]>, !exec.ref<4x36xf32, [36, 1]>] ties [0, -1, -1] {
^bb0(%dy: tensor<4x8x36xf32>, %x: tensor<4x8x36xf32>, %g: tensor<36xf32>):
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4x8x36xf32>
  %er = tensor.empty() : tensor<4x8xf32>
  %eb = tensor.empty() : tensor<4x36xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x8xf32>) -> tensor<4x8xf32>
  %fb = linalg.fill ins(%zero : f32) outs(%eb : tensor<4x36xf32>) -> tensor<4x36xf32>
  %fm = linalg.fill ins(%low : f32) outs(%eb : tensor<4x36xf32>) -> tensor<4x36xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "parallel", "reduction"], exec.dims = array<i64: 0, 1, 2>}
      ins(%dy, %x : tensor<4x8x36xf32>, tensor<4x8x36xf32>) outs(%fr : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %u = arith.mulf %a, %b : f32
    %t = arith.addf %u, %o : f32
    linalg.yield %t : f32
  } -> tensor<4x8xf32>
  %dx = linalg.generic {indexing_maps = [#id, #id, #lane, #row, #id], iterator_types = ["parallel", "parallel", "parallel"], exec.dims = array<i64: 0, 1, 2>}
      ins(%dy, %x, %g, %s : tensor<4x8x36xf32>, tensor<4x8x36xf32>, tensor<36xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8x36xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %o: f32):
    %u = arith.mulf %a, %c : f32
    %v = arith.mulf %b, %d : f32
    %t = arith.subf %u, %v : f32
    linalg.yield %t : f32
  } -> tensor<4x8x36xf32>
  %dg = linalg.generic {indexing_maps = [#id, #id, #blk], iterator_types = ["parallel", "reduction", "parallel"], exec.dims = array<i64: 0, 1, 2>}
      ins(%dy, %x : tensor<4x8x36xf32>, tensor<4x8x36xf32>) outs(%fb : tensor<4x36xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %u = arith.mulf %a, %b : f32
    %t = arith.addf %u, %o : f32
    linalg.yield %t : f32
  } -> tensor<4x36xf32>
  %mx = linalg.generic {indexing_maps = [#id, #blk], iterator_types = ["parallel", "reduction", "parallel"], exec.dims = array<i64: 0, 1, 2>}
      ins(%dx : tensor<4x8x36xf32>) outs(%fm : tensor<4x36xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<4x36xf32>
  exec.yield %dx, %dg, %mx : tensor<4x8x36xf32>, tensor<4x36xf32>, tensor<4x36xf32>
}
#two = affine_map<(b, j) -> (b, j)>
#one = affine_map<(b, j) -> (j)>
exec.kernel_def @finish space [4, 36] layouts [!exec.ref<4x36xf32, [36, 1]>, !exec.ref<36xf32, [1]>] ties [-1] {
^bb0(%p: tensor<4x36xf32>):
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<36xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<36xf32>) -> tensor<36xf32>
  %s = linalg.generic {indexing_maps = [#two, #one], iterator_types = ["reduction", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%p : tensor<4x36xf32>) outs(%f : tensor<36xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<36xf32>
  exec.yield %s : tensor<36xf32>
}
exec.tensor @scale_grad_p0 at 0 bytes 4608 category parameters : tensor<4x8x36xf32> = #tg.param<"scale_grad_p0", #tg.init<zeros>>
exec.program @run_scale_grad arena 38720 {
  exec.buffer @in1 at 32768 bytes 4608 live -1 to 0 category inputs name "x1" "input" role "x1" : tensor<4x8x36xf32>
  exec.buffer @in2 at 37376 bytes 192 live -1 to 0 category inputs name "x2" "input" role "x2" : tensor<36xf32>
  exec.buffer @out1 at 37568 bytes 576 live 0 to 1 category activations name "y1" "result" role "y1" : tensor<4x36xf32>
  exec.buffer @out2 at 38144 bytes 576 live 0 to 1 category activations name "y2" "result" role "y2" : tensor<4x36xf32>
  %i0 = exec.ref @scale_grad_p0 + 0 : !exec.ref<4x8x36xf32, [288, 36, 1]>
  %i1 = exec.ref @in1 + 0 : !exec.ref<4x8x36xf32, [288, 36, 1]>
  %i2 = exec.ref @in2 + 0 : !exec.ref<36xf32, [1]>
  %o1 = exec.ref @out1 + 0 : !exec.ref<4x36xf32, [36, 1]>
  %o2 = exec.ref @out2 + 0 : !exec.ref<4x36xf32, [36, 1]>
  exec.launch @scale_grad batch 1 (%i0, %i1, %i2) outs(%i0, %o1, %o2)
      : !exec.ref<4x8x36xf32, [288, 36, 1]>, !exec.ref<4x8x36xf32, [288, 36, 1]>, !exec.ref<36xf32, [1]> -> !exec.ref<4x8x36xf32, [288, 36, 1]>, !exec.ref<4x36xf32, [36, 1]>, !exec.ref<4x36xf32, [36, 1]>
}
exec.program @run_finish arena 33536 {
  exec.buffer @in0 at 32768 bytes 576 live -1 to 0 category inputs name "x0" "input" role "x0" : tensor<4x36xf32>
  exec.buffer @out0 at 33344 bytes 192 live 0 to 1 category activations name "y0" "result" role "y0" : tensor<36xf32>
  %i0 = exec.ref @in0 + 0 : !exec.ref<4x36xf32, [36, 1]>
  %o0 = exec.ref @out0 + 0 : !exec.ref<36xf32, [1]>
  exec.launch @finish batch 1 (%i0) outs(%o0)
      : !exec.ref<4x36xf32, [36, 1]> -> !exec.ref<36xf32, [1]>
}
