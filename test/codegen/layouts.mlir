// Operands of any layout and type: see the comments below.
// RUN: braidc %s --emit=cpp | FileCheck %s
// RUN: braidc %s -o %t.native --cpu=native
// RUN: %t.native run --program run_mask --outputs %t.st --threads 2 && braid-interp %s --function=run_mask --inputs=%t.st --expect=%t.st
// RUN: %t.native run --program run_norm --outputs %t.st --threads 2 && braid-interp %s --function=run_norm --inputs=%t.st --expect=%t.st
// RUN: braidc %s -o %t.x8664v3 --cpu=x86-64-v3
// RUN: %t.x8664v3 run --program run_mask --outputs %t.st --threads 2 && braid-interp %s --function=run_mask --inputs=%t.st --expect=%t.st
// RUN: %t.x8664v3 run --program run_norm --outputs %t.st --threads 2 && braid-interp %s --function=run_norm --inputs=%t.st --expect=%t.st
// RUN: braidc %s -o %t.x8664 --cpu=x86-64
// RUN: %t.x8664 run --program run_mask --outputs %t.st --threads 2 && braid-interp %s --function=run_mask --inputs=%t.st --expect=%t.st
// RUN: %t.x8664 run --program run_norm --outputs %t.st --threads 2 && braid-interp %s --function=run_norm --inputs=%t.st --expect=%t.st

// CHECK-LABEL: // mask: 2 x 5 rows of 20 lanes
// CHECK-NEXT: static void mask_kernel(Block block, const float *__restrict a0,
// CHECK-NEXT:                         const float *__restrict a1,
// CHECK-NEXT:                         const int32_t *__restrict a2, const bool *__restrict a3,
// CHECK-NEXT:                         const float *__restrict a4, const bf16 *__restrict a5,
// CHECK-NEXT:                         const int32_t *__restrict a6, float *__restrict o0,
// CHECK-NEXT:                         bf16 *__restrict o1, bool *__restrict o2,
// CHECK-NEXT:                         float *__restrict o3, int32_t *__restrict o4) {
// CHECK-NEXT:   constexpr int64_t L = 20;
// CHECK-NEXT:   float t11 = ld1(a4);
// CHECK-NEXT:   float t20 = t11 * 2.0f;
// CHECK-NEXT:   float t21 = pow(t20, 2.0f);
// CHECK-NEXT:   for (int64_t r = block.begin; r < block.end; ++r) {
// CHECK-NEXT:     int32_t t1 = ld1(a2 + r);
// CHECK-NEXT:     int64_t i0 = r % 5;
// CHECK-NEXT:     int32_t t3 = static_cast<int32_t>(i0);
// CHECK-NEXT:     int64_t i1 = r / 5;
// CHECK-NEXT:     int64_t at0 = i1 * 300 + i0 * L;
// CHECK-NEXT:     int64_t at1 = i1 * 100 + i0;
// CHECK-NEXT:     int32_t t23 = ld1(a6 + i0);
// CHECK-NEXT:     int32_t t24 = t1 * t23;
// CHECK-NEXT:     int32_t t25 = static_cast<int32_t>(i1);
// CHECK-NEXT:     int32_t t26 = t24 + t25;
// CHECK-NEXT:     int64_t at2 = i1 + i0 * 40;
// CHECK-NEXT:     st1(o4 + r, t26);
// CHECK-NEXT:     lanes(0, L, [&](int64_t l, auto n) {
// CHECK-NEXT:       VM t6 = ld(a3 + i0 * L + l, n);
// CHECK-NEXT:       V t8 = ld(a0 + at0 + l, n);
// CHECK-NEXT:       V t9 = ld_strided(a1 + at1 + l * 5, 5, n);
// CHECK-NEXT:       V t14 = ld(a5 + l, n);
// CHECK-NEXT:       VI t0 = lane_index(l);
// CHECK-NEXT:       VM t2 = t0 == t1;
// CHECK-NEXT:       VM t4 = t0 <= t3;
// CHECK-NEXT:       VM t5 = t2 | t4;
// CHECK-NEXT:       VM t7 = t5 & t6;
// CHECK-NEXT:       V t10 = t8 + t9;
// CHECK-NEXT:       V t12 = t10 * t11;
// CHECK-NEXT:       V t13 = select(t7, t12, splat(-3e+38f));
// CHECK-NEXT:       V t15 = maxnum(t8, t14);
// CHECK-NEXT:       V t16 = round_bf16(t15);
// CHECK-NEXT:       VM t17 = not_(t8 >= t16);
// CHECK-NEXT:       VM t18 = (t8 < t16) | (t8 > t16);
// CHECK-NEXT:       VM t19 = t17 & t18;
// CHECK-NEXT:       V t22 = t14 + t21;
// CHECK-NEXT:       st_strided(o0 + at2 + l * 2, 2, t13, n);
// CHECK-NEXT:       st(o1 + r * L + l, t15, n);
// CHECK-NEXT:       st(o2 + r * L + l, t19, n);
// CHECK-NEXT:       if (i0 == 0 && i1 == 0)
// CHECK-NEXT:         st(o3 + l, t22, n);
// CHECK-NEXT:     });
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-LABEL: // norm: one value
// CHECK-NEXT: static void norm_kernel(Block, const float *__restrict a0,
// CHECK-NEXT:                         float *__restrict o0, bool *__restrict o1) {
// CHECK-NEXT:   float t0 = ld1(a0);
// CHECK-NEXT:   float t1 = abs(t0);
// CHECK-NEXT:   float t2 = sqrt(t1);
// CHECK-NEXT:   bool t3 = not_(t2 < 0.5f);
// CHECK-NEXT:   st1(o0, t2);
// CHECK-NEXT:   st1(o1, t3);
// CHECK-NEXT: }
// CHECK: launch_rows(ctx, 10, 20, mask_kernel, m[x0], m[x1], m[x2], m[x3], m[x4],
// CHECK: launch_rows(ctx, 1, 1, norm_kernel, m[x0], m[y0], m[y1]);

#id = affine_map<(i, j, k) -> (i, j, k)>
#t = affine_map<(i, j, k) -> (i, k, j)>
#jk = affine_map<(i, j, k) -> (j, k)>
#ij = affine_map<(i, j, k) -> (i, j)>
#i = affine_map<(i, j, k) -> (i)>
#k = affine_map<(i, j, k) -> (k)>
#none = affine_map<(i, j, k) -> ()>
// Lanes that are not contiguous, rows that are not collapsible, masks from
// indices, an i1 operand, integers, a scalar, bf16 in and out.
exec.kernel_def @mask space [2, 5, 20] layouts [
    !exec.ref<2x5x20xf32, [300, 20, 1]>, !exec.ref<2x20x5xf32, [100, 5, 1]>, !exec.ref<2x5xi32, [5, 1]>,
    !exec.ref<5x20xi1, [20, 1]>, !exec.ref<f32, []>, !exec.ref<20xbf16, [1]>, !exec.ref<2x5xi32, [0, 1]>,
    !exec.ref<2x5x20xf32, [1, 40, 2]>, !exec.ref<2x5x20xbf16, [100, 20, 1]>, !exec.ref<2x5x20xi1, [100, 20, 1]>, !exec.ref<20xf32, [1]>,
    !exec.ref<2x5xi32, [5, 1]>] ties [-1, -1, -1, -1, -1] {
^bb0(%x: tensor<2x5x20xf32>, %y: tensor<2x20x5xf32>, %c: tensor<2x5xi32>, %m: tensor<5x20xi1>, %s: tensor<f32>, %h: tensor<20xbf16>, %q: tensor<2x5xi32>):
  %e = tensor.empty() : tensor<2x5x20xf32>
  %eh = tensor.empty() : tensor<2x5x20xbf16>
  %em = tensor.empty() : tensor<2x5x20xi1>
  %ek = tensor.empty() : tensor<20xf32>
  %ei = tensor.empty() : tensor<2x5xi32>
  %low = arith.constant -3.0e+38 : f32
  %two = arith.constant 2.0 : f32
  %a = linalg.generic {indexing_maps = [#id, #t, #ij, #jk, #none, #id], iterator_types = ["parallel", "parallel", "parallel"], exec.dims = array<i64: 0, 1, 2>}
      ins(%x, %y, %c, %m, %s : tensor<2x5x20xf32>, tensor<2x20x5xf32>, tensor<2x5xi32>, tensor<5x20xi1>, tensor<f32>) outs(%e : tensor<2x5x20xf32>) {
  ^bb0(%u: f32, %v: f32, %n: i32, %p: i1, %w: f32, %o: f32):
    %k = linalg.index 2 : index
    %ki = arith.index_cast %k : index to i32
    %j = linalg.index 1 : index
    %ji = arith.index_cast %j : index to i32
    %is = arith.cmpi eq, %ki, %n : i32
    %causal = arith.cmpi sle, %ki, %ji : i32
    %both = arith.ori %is, %causal : i1
    %all = arith.andi %both, %p : i1
    %sum = arith.addf %u, %v : f32
    %sw = arith.mulf %sum, %w : f32
    %r = arith.select %all, %sw, %low : f32
    linalg.yield %r : f32
  } -> tensor<2x5x20xf32>
  %b = linalg.generic {indexing_maps = [#id, #k, #id], iterator_types = ["parallel", "parallel", "parallel"], exec.dims = array<i64: 0, 1, 2>}
      ins(%x, %h : tensor<2x5x20xf32>, tensor<20xbf16>) outs(%eh : tensor<2x5x20xbf16>) {
  ^bb0(%u: f32, %v: bf16, %o: bf16):
    %f = arith.extf %v : bf16 to f32
    %g = arith.maxnumf %u, %f : f32
    %t = arith.truncf %g : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<2x5x20xbf16>
  %d = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"], exec.dims = array<i64: 0, 1, 2>}
      ins(%x, %b : tensor<2x5x20xf32>, tensor<2x5x20xbf16>) outs(%em : tensor<2x5x20xi1>) {
  ^bb0(%u: f32, %v: bf16, %o: i1):
    %f = arith.extf %v : bf16 to f32
    %g = arith.cmpf ult, %u, %f : f32
    %z = arith.cmpf one, %u, %f : f32
    %gz = arith.andi %g, %z : i1
    linalg.yield %gz : i1
  } -> tensor<2x5x20xi1>
  %l = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>, affine_map<(k) -> (k)>], iterator_types = ["parallel"], exec.dims = array<i64: 2>}
      ins(%h, %s : tensor<20xbf16>, tensor<f32>) outs(%ek : tensor<20xf32>) {
  ^bb0(%v: bf16, %w: f32, %o: f32):
    %f = arith.extf %v : bf16 to f32
    %w2 = arith.mulf %w, %two : f32
    %g = math.powf %w2, %two : f32
    %r = arith.addf %f, %g : f32
    linalg.yield %r : f32
  } -> tensor<20xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%c, %q : tensor<2x5xi32>, tensor<2x5xi32>) outs(%ei : tensor<2x5xi32>) {
  ^bb0(%v: i32, %w: i32, %o: i32):
    %i = linalg.index 0 : index
    %ii = arith.index_cast %i : index to i32
    %f = arith.muli %v, %w : i32
    %g = arith.addi %f, %ii : i32
    linalg.yield %g : i32
  } -> tensor<2x5xi32>
  exec.yield %a, %b, %d, %l, %z : tensor<2x5x20xf32>, tensor<2x5x20xbf16>, tensor<2x5x20xi1>, tensor<20xf32>, tensor<2x5xi32>
}
// One value: nothing runs over lanes.
exec.kernel_def @norm space [1] layouts [!exec.ref<f32, []>, !exec.ref<f32, []>, !exec.ref<i1, []>] ties [-1, -1] {
^bb0(%x: tensor<f32>):
  %e = tensor.empty() : tensor<f32>
  %ei = tensor.empty() : tensor<i1>
  %c = arith.constant 0.5 : f32
  %y = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = [], exec.dims = array<i64>}
      ins(%x : tensor<f32>) outs(%e : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.absf %a : f32
    %q = math.sqrt %s : f32
    linalg.yield %q : f32
  } -> tensor<f32>
  %z = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = [], exec.dims = array<i64>}
      ins(%y : tensor<f32>) outs(%ei : tensor<i1>) {
  ^bb0(%a: f32, %o: i1):
    %s = arith.cmpf uge, %a, %c : f32
    linalg.yield %s : i1
  } -> tensor<i1>
  exec.yield %y, %z : tensor<f32>, tensor<i1>
}
exec.program @run_mask arena 37312 {
  exec.buffer @in0 at 32768 bytes 1600 live -1 to 0 category inputs name "x0" "input" role "x0" : tensor<400xf32>
  exec.buffer @in1 at 34368 bytes 832 live -1 to 0 category inputs name "x1" "input" role "x1" : tensor<2x20x5xf32>
  exec.buffer @in2 at 35200 bytes 64 live -1 to 0 category inputs name "x2" "input" role "x2" : tensor<2x5xi32>
  exec.buffer @in3 at 35264 bytes 128 live -1 to 0 category inputs name "x3" "input" role "x3" : tensor<5x20xi1>
  exec.buffer @in4 at 35392 bytes 64 live -1 to 0 category inputs name "x4" "input" role "x4" : tensor<f32>
  exec.buffer @in5 at 35456 bytes 64 live -1 to 0 category inputs name "x5" "input" role "x5" : tensor<20xbf16>
  exec.buffer @in6 at 35520 bytes 64 live -1 to 0 category inputs name "x6" "input" role "x6" : tensor<5xi32>
  exec.buffer @out0 at 35584 bytes 832 live 0 to 1 category activations name "y0" "result" role "y0" : tensor<200xf32>
  exec.buffer @out1 at 36416 bytes 448 live 0 to 1 category activations name "y1" "result" role "y1" : tensor<2x5x20xbf16>
  exec.buffer @out2 at 36864 bytes 256 live 0 to 1 category activations name "y2" "result" role "y2" : tensor<2x5x20xi1>
  exec.buffer @out3 at 37120 bytes 128 live 0 to 1 category activations name "y3" "result" role "y3" : tensor<20xf32>
  exec.buffer @out4 at 37248 bytes 64 live 0 to 1 category activations name "y4" "result" role "y4" : tensor<2x5xi32>
  %i0 = exec.ref @in0 + 0 : !exec.ref<2x5x20xf32, [300, 20, 1]>
  %i1 = exec.ref @in1 + 0 : !exec.ref<2x20x5xf32, [100, 5, 1]>
  %i2 = exec.ref @in2 + 0 : !exec.ref<2x5xi32, [5, 1]>
  %i3 = exec.ref @in3 + 0 : !exec.ref<5x20xi1, [20, 1]>
  %i4 = exec.ref @in4 + 0 : !exec.ref<f32, []>
  %i5 = exec.ref @in5 + 0 : !exec.ref<20xbf16, [1]>
  %i6 = exec.ref @in6 + 0 : !exec.ref<2x5xi32, [0, 1]>
  %o0 = exec.ref @out0 + 0 : !exec.ref<2x5x20xf32, [1, 40, 2]>
  %o1 = exec.ref @out1 + 0 : !exec.ref<2x5x20xbf16, [100, 20, 1]>
  %o2 = exec.ref @out2 + 0 : !exec.ref<2x5x20xi1, [100, 20, 1]>
  %o3 = exec.ref @out3 + 0 : !exec.ref<20xf32, [1]>
  %o4 = exec.ref @out4 + 0 : !exec.ref<2x5xi32, [5, 1]>
  exec.launch @mask batch 1 (%i0, %i1, %i2, %i3, %i4, %i5, %i6) outs(%o0, %o1, %o2, %o3, %o4)
      : !exec.ref<2x5x20xf32, [300, 20, 1]>, !exec.ref<2x20x5xf32, [100, 5, 1]>, !exec.ref<2x5xi32, [5, 1]>, !exec.ref<5x20xi1, [20, 1]>, !exec.ref<f32, []>, !exec.ref<20xbf16, [1]>, !exec.ref<2x5xi32, [0, 1]> -> !exec.ref<2x5x20xf32, [1, 40, 2]>, !exec.ref<2x5x20xbf16, [100, 20, 1]>, !exec.ref<2x5x20xi1, [100, 20, 1]>, !exec.ref<20xf32, [1]>, !exec.ref<2x5xi32, [5, 1]>
}
exec.program @run_norm arena 32960 {
  exec.buffer @in0 at 32768 bytes 64 live -1 to 0 category inputs name "x0" "input" role "x0" : tensor<f32>
  exec.buffer @out0 at 32832 bytes 64 live 0 to 1 category activations name "y0" "result" role "y0" : tensor<f32>
  exec.buffer @out1 at 32896 bytes 64 live 0 to 1 category activations name "y1" "result" role "y1" : tensor<i1>
  %i0 = exec.ref @in0 + 0 : !exec.ref<f32, []>
  %o0 = exec.ref @out0 + 0 : !exec.ref<f32, []>
  %o1 = exec.ref @out1 + 0 : !exec.ref<i1, []>
  exec.launch @norm batch 1 (%i0) outs(%o0, %o1)
      : !exec.ref<f32, []> -> !exec.ref<f32, []>, !exec.ref<i1, []>
}
