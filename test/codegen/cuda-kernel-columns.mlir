// Sums over rows, in two stages and in one order: a block adds its own rows, each of
// its groups of threads every so many, and the groups through shared memory; a second
// kernel adds the blocks' sums in the same way.  No atomics.
// RUN: braidc %s --target=cuda:sm_90 --emit=cu | FileCheck %s
// RUN: rm -rf %t && mkdir %t && braidc %s --target=cuda:sm_90 --emit=cu -o %t/src
// RUN: python3 %S/../cuda/shim_build.py %t/src -o %t/run
// RUN: %t/run run --program columns --outputs %t/run.st && braid-interp %s --function=columns --inputs=%t/run.st --expect=%t/run.st
// UNSUPPORTED: sanitized

// CHECK-LABEL: // partial: 8 x 20 rows of 48 lanes, 8 blocks; 8 blocks of 256 threads, 16 a
// CHECK-NEXT: // row, 4 lanes at a time; from cuda-kernel-columns.mlir:{{[0-9]+}}
// CHECK-NEXT: __global__ __launch_bounds__(256, 1) void partial_kernel(const float *__restrict__ a0,
// CHECK-NEXT:                                                          float *__restrict__ o0) {
// CHECK-NEXT:   constexpr int L = 48, W = 4, T = 16, ROWS = 16, ITERS = 1;
// CHECK-NEXT:   constexpr int64_t B = 20;
// CHECK-NEXT:   using V = Vec<float, W>;
// CHECK-NEXT:   enter_kernel();
// CHECK-NEXT:   V sum0[ITERS] = {};
// CHECK-NEXT:   for (int64_t r = blockIdx.x * B + threadIdx.x / T; r < (blockIdx.x + 1) * B; r += ROWS) {
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int i = 0, l = threadIdx.x % T * W; i < ITERS && l < L; ++i, l += T * W) {
// CHECK-NEXT:       V t0 = ld<W>(a0 + r * L + l);
// CHECK-NEXT:       sum0[i] += t0;
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   sum_groups<T, ROWS>(sum0);
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int i = 0, l = threadIdx.x % T * W; i < ITERS && l < L; ++i, l += T * W) {
// CHECK-NEXT:     if (threadIdx.x < T)
// CHECK-NEXT:       st(o0 + blockIdx.x * L + l, sum0[i]);
// CHECK-NEXT:   }
// CHECK-NEXT: }

// CHECK-LABEL: // total: 8 rows of 48 lanes; 6 blocks of 32 threads, 16 rows at once, 4 lanes
// CHECK-NEXT: // at a time; from cuda-kernel-columns.mlir:{{[0-9]+}}
// CHECK-NEXT: __global__ __launch_bounds__(32, 1) void total_kernel(const float *__restrict__ a0,
// CHECK-NEXT:                                                       float *__restrict__ o0) {
// CHECK-NEXT:   constexpr int L = 48, W = 4, T = 2, ROWS = 16;
// CHECK-NEXT:   using V = Vec<float, W>;
// CHECK-NEXT:   enter_kernel();
// CHECK-NEXT:   for (int l = (blockIdx.x * T + threadIdx.x % T) * W; l < L; l += gridDim.x * T * W) {
// CHECK-NEXT:     V sum0 = splat<W>(0.0f);
// CHECK-NEXT:     for (int64_t r = threadIdx.x / T; r < 8; r += ROWS) {
// CHECK-NEXT:       V t0 = ld<W>(a0 + r * 48 + l);
// CHECK-NEXT:       sum0 += t0;
// CHECK-NEXT:     }
// CHECK-NEXT:     sum_groups<T, ROWS>(sum0);
// CHECK-NEXT:     if (threadIdx.x < T)
// CHECK-NEXT:       st(o0 + l, sum0);
// CHECK-NEXT:   }
// CHECK-NEXT: }

#all = affine_map<(i, j, k) -> (i, j, k)>
#block = affine_map<(i, j, k) -> (i, k)>
#id = affine_map<(i, j) -> (i, j)>
#lane = affine_map<(i, j) -> (j)>
exec.kernel_def @partial space [8, 20, 48] layouts [!exec.ref<8x20x48xf32, [960, 48, 1]>, !exec.ref<8x48xf32, [48, 1]>] ties [-1] {
^bb0(%x: tensor<8x20x48xf32>):
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x48xf32>) -> tensor<8x48xf32>
  %sum = linalg.generic {indexing_maps = [#all, #block], iterator_types = ["parallel", "reduction", "parallel"], exec.dims = array<i64: 0, 1, 2>}
      ins(%x : tensor<8x20x48xf32>) outs(%f : tensor<8x48xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<8x48xf32>
  exec.yield %sum : tensor<8x48xf32>
}
exec.kernel_def @total space [8, 48] layouts [!exec.ref<8x48xf32, [48, 1]>, !exec.ref<48xf32, [1]>] ties [-1] {
^bb0(%x: tensor<8x48xf32>):
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<48xf32>) -> tensor<48xf32>
  %sum = linalg.generic {indexing_maps = [#id, #lane], iterator_types = ["reduction", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x : tensor<8x48xf32>) outs(%f : tensor<48xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<48xf32>
  exec.yield %sum : tensor<48xf32>
}
exec.program @columns arena 33024 {
  exec.buffer @x at 0 bytes 30720 live -1 to 0 category inputs name "x" "input" role "x" : tensor<8x20x48xf32>
  exec.buffer @p at 30720 bytes 1536 live 0 to 2 category activations name "p" "result" role "p" : tensor<8x48xf32>
  exec.buffer @y at 32768 bytes 192 live 1 to 2 category activations name "y" "result" role "y" : tensor<48xf32>
  %x = exec.ref @x + 0 : !exec.ref<8x20x48xf32, [960, 48, 1]>
  %p = exec.ref @p + 0 : !exec.ref<8x48xf32, [48, 1]>
  %y = exec.ref @y + 0 : !exec.ref<48xf32, [1]>
  exec.launch @partial batch 1 (%x) outs(%p) : !exec.ref<8x20x48xf32, [960, 48, 1]> -> !exec.ref<8x48xf32, [48, 1]>
  exec.launch @total batch 1 (%p) outs(%y) : !exec.ref<8x48xf32, [48, 1]> -> !exec.ref<48xf32, [1]>
}
