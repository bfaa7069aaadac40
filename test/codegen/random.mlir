// Random numbers take the index of the element in its tensor.
// RUN: braidc %s --emit=cpp | FileCheck %s
// RUN: braidc %s -o %t.native --cpu=native
// RUN: %t.native run --program run_dropout --outputs %t.st --threads 2 && braid-interp %s --function=run_dropout --inputs=%t.st --expect=%t.st
// RUN: braidc %s -o %t.x8664v3 --cpu=x86-64-v3
// RUN: %t.x8664v3 run --program run_dropout --outputs %t.st --threads 2 && braid-interp %s --function=run_dropout --inputs=%t.st --expect=%t.st
// RUN: braidc %s -o %t.x8664 --cpu=x86-64
// RUN: %t.x8664 run --program run_dropout --outputs %t.st --threads 2 && braid-interp %s --function=run_dropout --inputs=%t.st --expect=%t.st

// CHECK-LABEL: // dropout: 6 rows of 20 lanes
// CHECK-NEXT: static void dropout_kernel(Block block, const float *__restrict a0,
// CHECK-NEXT:                            const int32_t *__restrict a1, float *__restrict o0,
// CHECK-NEXT:                            float *__restrict o1) {
// CHECK-NEXT:   constexpr int64_t L = 20;
// CHECK-NEXT:   for (int64_t r = block.begin; r < block.end; ++r) {
// CHECK-NEXT:     uint64_t e0 = static_cast<uint32_t>(a1[3]) * 120ull + r * L;
// CHECK-NEXT:     uint64_t e1 = static_cast<uint32_t>(a1[3]) * 120ull + r;
// CHECK-NEXT:     lanes(0, L, [&](int64_t l, auto n) {
// CHECK-NEXT:       V t3 = ld(a0 + r * L + l, n);
// CHECK-NEXT:       VI t0 = lane_index(l);
// CHECK-NEXT:       V t1 = philox_uniform(e0, t0, a1, 3u);
// CHECK-NEXT:       VM t2 = t1 < 0.25f;
// CHECK-NEXT:       V t4 = select(t2, splat(0.0f), t3);
// CHECK-NEXT:       V t5 = philox_uniform(e1, t0 * 6, a1, 4u);
// CHECK-NEXT:       st(o0 + r * L + l, t4, n);
// CHECK-NEXT:       st(o1 + r * L + l, t5, n);
// CHECK-NEXT:     });
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK: launch_rows(ctx, 6, 20, dropout_kernel, m[x0], m[x1], m[y0], m[y1]);

#id = affine_map<(i, j) -> (i, j)>
exec.kernel_def @dropout space [6, 20] layouts [!exec.ref<6x20xf32, [20, 1]>, !exec.ref<4xi32, [1]>, !exec.ref<6x20xf32, [20, 1]>, !exec.ref<6x20xf32, [20, 1]>] ties [-1, -1] {
^bb0(%x: tensor<6x20xf32>, %key: tensor<4xi32>):
  %e = tensor.empty() : tensor<6x20xf32>
  %p = arith.constant 0.25 : f32
  %zero = arith.constant 0.0 : f32
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x : tensor<6x20xf32>) outs(%e : tensor<6x20xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %u = exec.random_uniform %key[%i, %j] strides [20, 1] count 120 stream 3 : tensor<4xi32>, f32
    %drop = arith.cmpf olt, %u, %p : f32
    %r = arith.select %drop, %zero, %a : f32
    linalg.yield %r : f32
  } -> tensor<6x20xf32>
  %z = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      outs(%e : tensor<6x20xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %u = exec.random_uniform %key[%j, %i] strides [6, 1] count 120 stream 4 : tensor<4xi32>, f32
    linalg.yield %u : f32
  } -> tensor<6x20xf32>
  exec.yield %y, %z : tensor<6x20xf32>, tensor<6x20xf32>
}
exec.program @run_dropout arena 34368 {
  exec.buffer @in0 at 32768 bytes 512 live -1 to 0 category inputs name "x0" "input" role "x0" : tensor<6x20xf32>
  exec.buffer @in1 at 33280 bytes 64 live -1 to 0 category inputs name "x1" "input" role "key" : tensor<4xi32>
  exec.buffer @out0 at 33344 bytes 512 live 0 to 1 category activations name "y0" "result" role "y0" : tensor<6x20xf32>
  exec.buffer @out1 at 33856 bytes 512 live 0 to 1 category activations name "y1" "result" role "y1" : tensor<6x20xf32>
  %i0 = exec.ref @in0 + 0 : !exec.ref<6x20xf32, [20, 1]>
  %i1 = exec.ref @in1 + 0 : !exec.ref<4xi32, [1]>
  %o0 = exec.ref @out0 + 0 : !exec.ref<6x20xf32, [20, 1]>
  %o1 = exec.ref @out1 + 0 : !exec.ref<6x20xf32, [20, 1]>
  exec.launch @dropout batch 1 (%i0, %i1) outs(%o0, %o1)
      : !exec.ref<6x20xf32, [20, 1]>, !exec.ref<4xi32, [1]> -> !exec.ref<6x20xf32, [20, 1]>, !exec.ref<6x20xf32, [20, 1]>
}
