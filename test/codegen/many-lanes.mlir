// With many lanes, sums over rows are not arrays on the stack: the loop over blocks
// and rows runs inside the loop over lanes.
// RUN: braidc %s --emit=cpp | FileCheck %s
// RUN: braidc %s -o %t.native --cpu=native
// RUN: %t.native run --program run_wide --outputs %t.st --threads 2 && braid-interp %s --function=run_wide --inputs=%t.st --expect=%t.st

// CHECK-LABEL: // wide: 2 x 3 rows of 20001 lanes
// CHECK-NEXT: static void wide_kernel(Block block, float *__restrict io0,
// CHECK-NEXT:                         const float *__restrict a1, float *__restrict o1,
// CHECK-NEXT:                         float *__restrict o2) {
// CHECK-NEXT:   lanes(block.begin, block.end, [&](int64_t l, auto n) {
// CHECK-NEXT:     V t1 = ld(a1 + l, n);
// CHECK-NEXT:     V t2 = exp(t1);
// CHECK-NEXT:     V t4 = -t1;
// CHECK-NEXT:     st(o2 + l, t4, n);
// CHECK-NEXT:     for (int64_t b = 0; b < 2; ++b) {
// CHECK-NEXT:       V sum0 = splat(0.0f);
// CHECK-NEXT:       for (int64_t r = b * 3; r < (b + 1) * 3; ++r) {
// CHECK-NEXT:         V t0 = ld(io0 + r * 20001 + l, n);
// CHECK-NEXT:         V t3 = t0 * t2;
// CHECK-NEXT:         sum0 += t3;
// CHECK-NEXT:         st(io0 + r * 20001 + l, t3, n);
// CHECK-NEXT:       }
// CHECK-NEXT:       st(o1 + b * 20001 + l, sum0, n);
// CHECK-NEXT:     }
// CHECK-NEXT:   });
// CHECK-NEXT: }
// CHECK: launch_lanes(ctx, 6, 20001, wide_kernel, m[wide_p0], m[x1], m[y1], m[y2]);

#id = affine_map<(b, i, j) -> (b, i, j)>
#blk = affine_map<(b, i, j) -> (b, j)>
#lane = affine_map<(b, i, j) -> (j)>
exec.kernel_def @wide space [2, 3, 20001] layouts [!exec.ref<2x3x20001xf32, [60003, 20001, 1]>, !exec.ref<20001xf32, [1]>,
    !exec.ref<2x3x20001xf32, [60003, 20001, 1]>, !exec.ref<2x20001xf32, [20001, 1]>, !exec.ref<20001xf32, [1]>] ties [0, -1, -1] {
^bb0(%x: tensor<2x3x20001xf32>, %g: tensor<20001xf32>):
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3x20001xf32>
  %eb = tensor.empty() : tensor<2x20001xf32>
  %el = tensor.empty() : tensor<20001xf32>
  %fb = linalg.fill ins(%zero : f32) outs(%eb : tensor<2x20001xf32>) -> tensor<2x20001xf32>
  %y = linalg.generic {indexing_maps = [#id, #lane, #id], iterator_types = ["parallel", "parallel", "parallel"], exec.dims = array<i64: 0, 1, 2>}
      ins(%x, %g : tensor<2x3x20001xf32>, tensor<20001xf32>) outs(%e : tensor<2x3x20001xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %c2 = math.exp %c : f32
    %u = arith.mulf %a, %c2 : f32
    linalg.yield %u : f32
  } -> tensor<2x3x20001xf32>
  %s = linalg.generic {indexing_maps = [#id, #blk], iterator_types = ["parallel", "reduction", "parallel"], exec.dims = array<i64: 0, 1, 2>}
      ins(%y : tensor<2x3x20001xf32>) outs(%fb : tensor<2x20001xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<2x20001xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(j) -> (j)>, affine_map<(j) -> (j)>], iterator_types = ["parallel"], exec.dims = array<i64: 2>}
      ins(%g : tensor<20001xf32>) outs(%el : tensor<20001xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.negf %a : f32
    linalg.yield %t : f32
  } -> tensor<20001xf32>
  exec.yield %y, %s, %n : tensor<2x3x20001xf32>, tensor<2x20001xf32>, tensor<20001xf32>
}
exec.tensor @wide_p0 at 0 bytes 480064 category parameters : tensor<2x3x20001xf32> = #tg.param<"wide_p0", #tg.init<zeros>>
exec.program @run_wide arena 1368768 {
  exec.buffer @in1 at 1048576 bytes 80064 live -1 to 0 category inputs name "x1" "input" role "x1" : tensor<20001xf32>
  exec.buffer @out1 at 1128640 bytes 160064 live 0 to 1 category activations name "y1" "result" role "y1" : tensor<2x20001xf32>
  exec.buffer @out2 at 1288704 bytes 80064 live 0 to 1 category activations name "y2" "result" role "y2" : tensor<20001xf32>
  %i0 = exec.ref @wide_p0 + 0 : !exec.ref<2x3x20001xf32, [60003, 20001, 1]>
  %i1 = exec.ref @in1 + 0 : !exec.ref<20001xf32, [1]>
  %o1 = exec.ref @out1 + 0 : !exec.ref<2x20001xf32, [20001, 1]>
  %o2 = exec.ref @out2 + 0 : !exec.ref<20001xf32, [1]>
  exec.launch @wide batch 1 (%i0, %i1) outs(%i0, %o1, %o2)
      : !exec.ref<2x3x20001xf32, [60003, 20001, 1]>, !exec.ref<20001xf32, [1]> -> !exec.ref<2x3x20001xf32, [60003, 20001, 1]>, !exec.ref<2x20001xf32, [20001, 1]>, !exec.ref<20001xf32, [1]>
}
