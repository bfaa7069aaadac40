// Where a thread finds its lanes, and who stores what belongs to a row.  bf16 makes a
// thread take 8 lanes at once, 16 bytes; an operand that starts between two such places
// in some launch is read element by element.  A row's value over its operand waits for
// the threads that read it.  Two launches prove the alignment of both.
// RUN: braidc %s --target=cuda:sm_90 --emit=cu | FileCheck %s
// RUN: rm -rf %t && mkdir %t && braidc %s --target=cuda:sm_90 --emit=cu -o %t/src
// RUN: python3 %S/../cuda/shim_build.py %t/src -o %t/run
// RUN: %t/run run --program places --outputs %t/run.st && braid-interp %s --function=places --inputs=%t/run.st --expect=%t/run.st
// UNSUPPORTED: sanitized

// CHECK-LABEL: // scale: 40 rows of 64 lanes; 2 blocks of 256 threads, 8 a row, 8 lanes at a
// CHECK-NEXT: // time; from cuda-kernel-places.mlir:{{[0-9]+}}
// CHECK-NEXT: __global__ __launch_bounds__(256, 1) void scale_kernel(const bf16 *__restrict__ a0,
// CHECK-NEXT:                                                        const float *__restrict__ a1,
// CHECK-NEXT:                                                        float *__restrict__ io1,
// CHECK-NEXT:                                                        bf16 *__restrict__ o0) {
// CHECK-NEXT:   constexpr int L = 64, W = 8, T = 8, ROWS = 32, ITERS = 1;
// CHECK-NEXT:   constexpr int64_t R = 40;
// CHECK-NEXT:   using V = Vec<float, W>;
// CHECK-NEXT:   enter_kernel();
// CHECK-NEXT:   for (int64_t r = blockIdx.x * ROWS + threadIdx.x / T; r < R; r += gridDim.x * ROWS) {
// CHECK-NEXT:     float t3 = ld1(io1 + r);
// CHECK-NEXT:     V sum0 = splat<W>(0.0f);
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int i = 0, l = threadIdx.x % T * W; i < ITERS; ++i, l += T * W) {
// CHECK-NEXT:       V t0 = ld<W>(a0 + r * L + l);
// CHECK-NEXT:       V t1 = ld_strided<W>(a1 + l, 1);
// CHECK-NEXT:       sum0 += t0;
// CHECK-NEXT:       V t2 = t0 * t1;
// CHECK-NEXT:       V t4 = t2 * t3;
// CHECK-NEXT:       st(o0 + r * L + l, t4);
// CHECK-NEXT:     }
// CHECK-NEXT:     float t5 = row_sum<T>(sum0);
// CHECK-NEXT:     float t6 = t3 + t5;
// CHECK-NEXT:     row_barrier<T>();
// CHECK-NEXT:     if (leader<T>())
// CHECK-NEXT:       st1(io1 + r, t6);
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK: launch(m, 2, 256, scale_kernel, m[x], m[g], m[s], m[y0]);
// CHECK: launch(m, 2, 256, scale_kernel, m[x], m[g + 4], m[s], m[y1]);

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#lane = affine_map<(i, j) -> (j)>
#r = affine_map<(i) -> (i)>
exec.kernel_def @scale space [40, 64] layouts [
    !exec.ref<40x64xbf16, [64, 1]>, !exec.ref<64xf32, [1]>, !exec.ref<40xf32, [1]>,
    !exec.ref<40x64xbf16, [64, 1]>, !exec.ref<40xf32, [1]>] ties [-1, 2] {
^bb0(%x: tensor<40x64xbf16>, %g: tensor<64xf32>, %s: tensor<40xf32>):
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<40xf32>
  %e = tensor.empty() : tensor<40x64xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%er : tensor<40xf32>) -> tensor<40xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"], exec.dims = array<i64: 0, 1>}
      ins(%x : tensor<40x64xbf16>) outs(%f : tensor<40xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %w = arith.extf %a : bf16 to f32
    %t = arith.addf %w, %o : f32
    linalg.yield %t : f32
  } -> tensor<40xf32>
  %new = linalg.generic {indexing_maps = [#r, #r, #r], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%s, %sum : tensor<40xf32>, tensor<40xf32>) outs(%er : tensor<40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<40xf32>
  %y = linalg.generic {indexing_maps = [#id, #lane, #row, #id], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %g, %s : tensor<40x64xbf16>, tensor<64xf32>, tensor<40xf32>) outs(%e : tensor<40x64xbf16>) {
  ^bb0(%a: bf16, %b: f32, %c: f32, %o: bf16):
    %w = arith.extf %a : bf16 to f32
    %p = arith.mulf %w, %b : f32
    %q = arith.mulf %p, %c : f32
    %t = arith.truncf %q : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<40x64xbf16>
  exec.yield %y, %new : tensor<40x64xbf16>, tensor<40xf32>
}
exec.tensor @x at 0 bytes 5120 category parameters : tensor<40x64xbf16> = #tg.param<"x", #tg.init<normal, 0.0, 1.0>>
exec.tensor @g at 5376 bytes 272 category parameters : tensor<68xf32> = #tg.param<"g", #tg.init<normal, 0.0, 1.0>>
exec.tensor @s at 6144 bytes 160 category parameters : tensor<40xf32> = #tg.param<"s", #tg.init<ones>>
exec.program @places arena 18432 {
  exec.buffer @y0 at 8192 bytes 5120 live 0 to 2 category activations name "y0" "result" role "y0" : tensor<40x64xbf16>
  exec.buffer @y1 at 13312 bytes 5120 live 1 to 2 category activations name "y1" "result" role "y1" : tensor<40x64xbf16>
  %x = exec.ref @x + 0 : !exec.ref<40x64xbf16, [64, 1]>
  %g = exec.ref @g + 0 : !exec.ref<64xf32, [1]>
  %h = exec.ref @g + 4 : !exec.ref<64xf32, [1]>
  %s = exec.ref @s + 0 : !exec.ref<40xf32, [1]>
  %y0 = exec.ref @y0 + 0 : !exec.ref<40x64xbf16, [64, 1]>
  %y1 = exec.ref @y1 + 0 : !exec.ref<40x64xbf16, [64, 1]>
  exec.launch @scale batch 1 (%x, %g, %s) outs(%y0, %s)
      : !exec.ref<40x64xbf16, [64, 1]>, !exec.ref<64xf32, [1]>, !exec.ref<40xf32, [1]> -> !exec.ref<40x64xbf16, [64, 1]>, !exec.ref<40xf32, [1]>
  exec.launch @scale batch 1 (%x, %h, %s) outs(%y1, %s)
      : !exec.ref<40x64xbf16, [64, 1]>, !exec.ref<64xf32, [1]>, !exec.ref<40xf32, [1]> -> !exec.ref<40x64xbf16, [64, 1]>, !exec.ref<40xf32, [1]>
}
