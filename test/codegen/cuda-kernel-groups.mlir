// Where the number of blocks is that of the partial sums, a block works on several rows at
// once, each a group of whole warps: their reductions meet at the block's barriers.  All
// that the next row of a group reads is sent for while this one is reduced.
// RUN: braidc %s --target=cuda:sm_90 --emit=cu | FileCheck %s
// RUN: rm -rf %t && mkdir %t && braidc %s --target=cuda:sm_90 --emit=cu -o %t/src
// RUN: python3 %S/../cuda/shim_build.py %t/src -o %t/run
// RUN: %t/run run --program groups --outputs %t/run.st && braid-interp %s --function=groups --inputs=%t/run.st --expect=%t/run.st
// UNSUPPORTED: sanitized

// CHECK-LABEL: // center: 8 x 12 rows of 768 lanes, 8 blocks; 8 blocks of 768 threads, 192 a
// CHECK-NEXT: // row, 4 lanes at a time; from cuda-kernel-groups.mlir:{{[0-9]+}}
// CHECK-NEXT: __global__ __launch_bounds__(768, 1) void center_kernel(const float *__restrict__ a0,
// CHECK-NEXT:                                                         const float *__restrict__ a1,
// CHECK-NEXT:                                                         float *__restrict__ o0,
// CHECK-NEXT:                                                         float *__restrict__ o1) {
// CHECK-NEXT:   constexpr int L = 768, W = 4, T = 192, ROWS = 4, ITERS = 1;
// CHECK-NEXT:   constexpr int64_t B = 12;
// CHECK-NEXT:   using V = Vec<float, W>;
// CHECK-NEXT:   enter_kernel();
// CHECK-NEXT:   V sum0[ITERS] = {};
// CHECK-NEXT:   for (int64_t r = blockIdx.x * B + threadIdx.x / T; r < (blockIdx.x + 1) * B; r += ROWS) {
// CHECK-NEXT:     V sum1 = splat<W>(0.0f);
// CHECK-NEXT:     int64_t next0 = r + ROWS < (blockIdx.x + 1) * B ? r + ROWS : r;
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int i = 0, l = threadIdx.x % T * W; i < ITERS; ++i, l += T * W) {
// CHECK-NEXT:       V t0 = ld<W>(a0 + r * L + l);
// CHECK-NEXT:       prefetch(a0 + next0 * L + l);
// CHECK-NEXT:       prefetch(a1 + next0 * L + l);
// CHECK-NEXT:       sum1 += t0;
// CHECK-NEXT:     }
// CHECK-NEXT:     float t1 = row_sum<T>(sum1);
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int i = 0, l = threadIdx.x % T * W; i < ITERS; ++i, l += T * W) {
// CHECK-NEXT:       V t2 = ld<W>(a0 + r * L + l);
// CHECK-NEXT:       V t4 = ld<W>(a1 + r * L + l);
// CHECK-NEXT:       V t3 = t2 - t1;
// CHECK-NEXT:       V t5 = t3 + t4;
// CHECK-NEXT:       sum0[i] += t5;
// CHECK-NEXT:       st(o0 + r * L + l, t5);
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   sum_groups<T, ROWS>(sum0);
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int i = 0, l = threadIdx.x % T * W; i < ITERS; ++i, l += T * W) {
// CHECK-NEXT:     if (threadIdx.x < T)
// CHECK-NEXT:       st(o1 + blockIdx.x * L + l, sum0[i]);
// CHECK-NEXT:   }
// CHECK-NEXT: }

#all = affine_map<(i, j, k) -> (i, j, k)>
#row = affine_map<(i, j, k) -> (i, j)>
#block = affine_map<(i, j, k) -> (i, k)>
exec.kernel_def @center space [8, 12, 768] layouts [!exec.ref<8x12x768xf32, [9216, 768, 1]>, !exec.ref<8x12x768xf32, [9216, 768, 1]>, !exec.ref<8x12x768xf32, [9216, 768, 1]>, !exec.ref<8x768xf32, [768, 1]>] ties [-1, -1] {
^bb0(%x: tensor<8x12x768xf32>, %y: tensor<8x12x768xf32>):
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<8x12xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<8x12xf32>) -> tensor<8x12xf32>
  %mean = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"], exec.dims = array<i64: 0, 1, 2>}
      ins(%x : tensor<8x12x768xf32>) outs(%fr : tensor<8x12xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<8x12xf32>
  %ez = tensor.empty() : tensor<8x12x768xf32>
  %z = linalg.generic {indexing_maps = [#all, #row, #all, #all], iterator_types = ["parallel", "parallel", "parallel"], exec.dims = array<i64: 0, 1, 2>}
      ins(%x, %mean, %y : tensor<8x12x768xf32>, tensor<8x12xf32>, tensor<8x12x768xf32>) outs(%ez : tensor<8x12x768xf32>) {
  ^bb0(%a: f32, %m: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %t = arith.addf %d, %b : f32
    linalg.yield %t : f32
  } -> tensor<8x12x768xf32>
  %ep = tensor.empty() : tensor<8x768xf32>
  %fp = linalg.fill ins(%zero : f32) outs(%ep : tensor<8x768xf32>) -> tensor<8x768xf32>
  %p = linalg.generic {indexing_maps = [#all, #block], iterator_types = ["parallel", "reduction", "parallel"], exec.dims = array<i64: 0, 1, 2>}
      ins(%z : tensor<8x12x768xf32>) outs(%fp : tensor<8x768xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<8x768xf32>
  exec.yield %z, %p : tensor<8x12x768xf32>, tensor<8x768xf32>
}
exec.program @groups arena 909312 {
  exec.buffer @x at 0 bytes 294912 live -1 to 0 category inputs name "x" "input" role "x" : tensor<8x12x768xf32>
  exec.buffer @y at 294912 bytes 294912 live -1 to 0 category inputs name "y" "input" role "y" : tensor<8x12x768xf32>
  exec.buffer @z at 589824 bytes 294912 live 0 to 1 category activations name "z" "result" role "z" : tensor<8x12x768xf32>
  exec.buffer @p at 884736 bytes 24576 live 0 to 1 category activations name "p" "result" role "p" : tensor<8x768xf32>
  %x = exec.ref @x + 0 : !exec.ref<8x12x768xf32, [9216, 768, 1]>
  %y = exec.ref @y + 0 : !exec.ref<8x12x768xf32, [9216, 768, 1]>
  %z = exec.ref @z + 0 : !exec.ref<8x12x768xf32, [9216, 768, 1]>
  %p = exec.ref @p + 0 : !exec.ref<8x768xf32, [768, 1]>
  exec.launch @center batch 1 (%x, %y) outs(%z, %p) : !exec.ref<8x12x768xf32, [9216, 768, 1]>, !exec.ref<8x12x768xf32, [9216, 768, 1]> -> !exec.ref<8x12x768xf32, [9216, 768, 1]>, !exec.ref<8x768xf32, [768, 1]>
}
