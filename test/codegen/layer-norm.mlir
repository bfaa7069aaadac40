// A kernel is split into phases at its reductions over lanes; row values stay
// scalars, and cheap lane values are computed again in each phase that reads them.
// RUN: braidc %s --emit=cpp | FileCheck %s
// RUN: braidc %s -o %t.native --cpu=native
// RUN: %t.native run --program train --outputs %t.st --threads 2 && braid-interp %s --function=train --inputs=%t.st --expect=%t.st

// CHECK-LABEL: // layer_norm: 4 x 64 rows of 768 lanes
// CHECK-NEXT: static void layer_norm_kernel(Block block, const float *__restrict a0,
// CHECK-NEXT:                               const float *__restrict a1, float *__restrict o0,
// CHECK-NEXT:                               float *__restrict o1) {
// CHECK-NEXT:   constexpr int64_t L = 768;
// CHECK-NEXT:   for (int64_t r = block.begin; r < block.end; ++r) {
// CHECK-NEXT:     V sum0 = splat(0.0f);
// CHECK-NEXT:     for (int64_t l = 0; l < L; l += W) {
// CHECK-NEXT:       V t0 = ld(a0 + r * L + l);
// CHECK-NEXT:       sum0 += t0;
// CHECK-NEXT:     }
// CHECK-NEXT:     float t1 = row_sum(sum0);
// CHECK-NEXT:     float t3 = t1 / 768.0f;
// CHECK-NEXT:     st1(o1 + r, t3);
// CHECK-NEXT:     V sum1 = splat(0.0f);
// CHECK-NEXT:     for (int64_t l = 0; l < L; l += W) {
// CHECK-NEXT:       V t2 = ld(a0 + r * L + l);
// CHECK-NEXT:       V t4 = t2 - t3;
// CHECK-NEXT:       V t5 = t4 * t4;
// CHECK-NEXT:       sum1 += t5;
// CHECK-NEXT:     }
// CHECK-NEXT:     float t6 = row_sum(sum1);
// CHECK-NEXT:     float t9 = t6 / 768.0f;
// CHECK-NEXT:     float t10 = t9 + 1e-05f;
// CHECK-NEXT:     float t11 = rsqrt(t10);
// CHECK-NEXT:     for (int64_t l = 0; l < L; l += W) {
// CHECK-NEXT:       V t7 = ld(a0 + r * L + l);
// CHECK-NEXT:       V t13 = ld(a1 + l);
// CHECK-NEXT:       V t8 = t7 - t3;
// CHECK-NEXT:       V t12 = t8 * t11;
// CHECK-NEXT:       V t14 = t12 * t13;
// CHECK-NEXT:       st(o0 + r * L + l, t14);
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK: launch_rows(ctx, 256, 768, layer_norm_kernel, m[x], m[g], m[y], m[place_m]);

#id = affine_map<(i, j, k) -> (i, j, k)>
#row = affine_map<(i, j, k) -> (i, j)>
#lane = affine_map<(i, j, k) -> (k)>
#r = affine_map<(i, j) -> (i, j)>
exec.kernel_def @layer_norm space [4, 64, 768] layouts [
    !exec.ref<4x64x768xf32, [49152, 768, 1]>, !exec.ref<768xf32, [1]>,
    !exec.ref<4x64x768xf32, [49152, 768, 1]>, !exec.ref<4x64xf32, [64, 1]>] ties [-1, -1] {
^bb0(%x: tensor<4x64x768xf32>, %g: tensor<768xf32>):
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 768.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %er = tensor.empty() : tensor<4x64xf32>
  %e = tensor.empty() : tensor<4x64x768xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x64xf32>) -> tensor<4x64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"], exec.dims = array<i64: 0, 1, 2>}
      ins(%x : tensor<4x64x768xf32>) outs(%zr : tensor<4x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<4x64xf32>
  %mean = linalg.generic {indexing_maps = [#r, #r], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%sum : tensor<4x64xf32>) outs(%er : tensor<4x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.divf %a, %n : f32
    linalg.yield %s : f32
  } -> tensor<4x64xf32>
  %centred = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"], exec.dims = array<i64: 0, 1, 2>}
      ins(%x, %mean : tensor<4x64x768xf32>, tensor<4x64xf32>) outs(%e : tensor<4x64x768xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %s = arith.subf %a, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x64x768xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"], exec.dims = array<i64: 0, 1, 2>}
      ins(%centred : tensor<4x64x768xf32>) outs(%zr : tensor<4x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.mulf %a, %a : f32
    %s = arith.addf %q, %o : f32
    linalg.yield %s : f32
  } -> tensor<4x64xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #lane, #id], iterator_types = ["parallel", "parallel", "parallel"], exec.dims = array<i64: 0, 1, 2>}
      ins(%centred, %squares, %g : tensor<4x64x768xf32>, tensor<4x64xf32>, tensor<768xf32>) outs(%e : tensor<4x64x768xf32>) {
  ^bb0(%a: f32, %q: f32, %w: f32, %o: f32):
    %v = arith.divf %q, %n : f32
    %ve = arith.addf %v, %eps : f32
    %rstd = math.rsqrt %ve : f32
    %s = arith.mulf %a, %rstd : f32
    %t = arith.mulf %s, %w : f32
    linalg.yield %t : f32
  } -> tensor<4x64x768xf32>
  exec.yield %y, %mean : tensor<4x64x768xf32>, tensor<4x64xf32>
}
exec.tensor @g at 786432 bytes 3072 category parameters : tensor<768xf32> = #tg.param<"g", #tg.init<ones>>
exec.program @train arena 1576960 {
  exec.buffer @x at 0 bytes 786432 live -1 to 0 category inputs name "x" "input" role "features" : tensor<4x64x768xf32>
  exec.buffer @y at 789504 bytes 786432 live 0 to 1 category activations name "y" "result" role "y" : tensor<4x64x768xf32>
  exec.buffer @m at 1575936 bytes 1024 live 0 to 1 category activations name "m" "result" role "m" : tensor<4x64xf32>
  %x = exec.ref @x + 0 : !exec.ref<4x64x768xf32, [49152, 768, 1]>
  %g = exec.ref @g + 0 : !exec.ref<768xf32, [1]>
  %y = exec.ref @y + 0 : !exec.ref<4x64x768xf32, [49152, 768, 1]>
  %m = exec.ref @m + 0 : !exec.ref<4x64xf32, [64, 1]>
  exec.launch @layer_norm batch 1 (%x, %g) outs(%y, %m)
      : !exec.ref<4x64x768xf32, [49152, 768, 1]>, !exec.ref<768xf32, [1]> -> !exec.ref<4x64x768xf32, [49152, 768, 1]>, !exec.ref<4x64xf32, [64, 1]>
}
