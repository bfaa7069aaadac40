// A sum of the sums of many tensors is computed in chunks of the same lengths.
// RUN: braid-opt %s --exec-chunk-sums --split-input-file | FileCheck %s
// RUN: braid-interp %s --compare --pipeline=exec-chunk-sums --arithmetic=f64 --rtol=1e-5 --seeds=2
// RUN: braid-interp %s --compare --pipeline=tg-decompose,exec-chunk-sums,exec-select-calls,exec-form-kernels,exec-fuse-kernels,exec-gather-kernels,exec-plan-memory,exec-outline-kernels,exec-batch-launches,exec-verify-memory,exec-verify-plan --arithmetic=f64 --rtol=1e-5 --seeds=2

// Chunks of 4096 elements, then of 64, then single ones; squares are those of the chunks.
// CHECK-LABEL: @tails
// CHECK: %[[FLAT:.*]] = tg.reshape %arg0 : tensor<2x4163xf32> -> tensor<8326xf32>
// CHECK: %[[LONG:.*]] = tg.slice %[[FLAT]] dim 0 offset 0 size 8192
// CHECK: %[[ROWS:.*]] = tg.reshape %[[LONG]] : tensor<8192xf32> -> tensor<2x4096xf32>
// CHECK: %[[SQUARES:.*]] = arith.mulf %[[ROWS]], %[[ROWS]]
// CHECK: tg.reduce sum %[[SQUARES]] dims [1] : tensor<2x4096xf32> -> tensor<2xf32>
// CHECK: tg.slice %{{.*}} dim 0 offset 8192 size 128
// CHECK: tg.reduce sum %{{.*}} dims [1] : tensor<2x64xf32> -> tensor<2xf32>
// CHECK: tg.slice %{{.*}} dim 0 offset 8320 size 6
// CHECK: %[[REST:.*]] = arith.mulf %{{.*}} : tensor<6xf32>
// CHECK: arith.extf %{{.*}} : tensor<1x4096xbf16> to tensor<1x4096xf32>
// CHECK: arith.mulf %{{.*}} : tensor<3x64xf32>
// CHECK: arith.mulf %{{.*}} : tensor<1xf32>
// CHECK: %[[ALL:.*]] = tg.concat
// CHECK-SAME: -> tensor<15xf32>
// CHECK: %[[SUM:.*]] = tg.reduce sum %[[ALL]] dims [0] : tensor<15xf32> -> tensor<f32>
// CHECK: arith.addf %[[SUM]], %arg4
// CHECK-NOT: arith.addf
func.func @tails(%a: tensor<2x4163xf32>, %b: tensor<4096xbf16>, %c: tensor<3x64xf32>, %d: tensor<1xf32>, %e: tensor<f32>) -> tensor<f32> {
  %aa = arith.mulf %a, %a : tensor<2x4163xf32>
  %0 = tg.reduce sum %aa dims [0, 1] : tensor<2x4163xf32> -> tensor<f32>
  %w = arith.extf %b : tensor<4096xbf16> to tensor<4096xf32>
  %bb = arith.mulf %w, %w : tensor<4096xf32>
  %1 = tg.reduce sum %bb dims [0] : tensor<4096xf32> -> tensor<f32>
  %f = tg.broadcast %e dims [] : tensor<f32> -> tensor<3x64xf32>
  %cc = arith.mulf %c, %f : tensor<3x64xf32>
  %2 = tg.reduce sum %cc dims [0, 1] : tensor<3x64xf32> -> tensor<f32>
  %two = arith.constant dense<2.0> : tensor<1xf32>
  %dd = arith.mulf %d, %two : tensor<1xf32>
  %3 = tg.reduce sum %dd dims [0] : tensor<1xf32> -> tensor<f32>
  %4 = arith.addf %0, %1 : tensor<f32>
  %5 = arith.addf %4, %e : tensor<f32>
  %6 = arith.addf %2, %3 : tensor<f32>
  %7 = arith.addf %5, %6 : tensor<f32>
  return %7 : tensor<f32>
}

// -----

// What something else reads, too, is computed once and cut.
// CHECK-LABEL: @shared
// CHECK: %[[Y:.*]] = arith.mulf %arg0, %arg0 : tensor<8x64xf32>
// CHECK-NEXT: tg.reduce sum %[[Y]] dims [1]
// CHECK: return %{{.*}}, %[[Y]]
func.func @shared(%x: tensor<8x64xf32>) -> (tensor<f32>, tensor<8x64xf32>) {
  %y = arith.mulf %x, %x : tensor<8x64xf32>
  %0 = tg.reduce sum %y dims [0, 1] : tensor<8x64xf32> -> tensor<f32>
  %1 = tg.reduce sum %x dims [0, 1] : tensor<8x64xf32> -> tensor<f32>
  %2 = tg.reduce sum %x dims [0, 1] : tensor<8x64xf32> -> tensor<f32>
  %3 = tg.reduce sum %y dims [0, 1] : tensor<8x64xf32> -> tensor<f32>
  %4 = arith.addf %0, %1 : tensor<f32>
  %5 = arith.addf %2, %3 : tensor<f32>
  %6 = arith.addf %4, %5 : tensor<f32>
  return %6, %y : tensor<f32>, tensor<8x64xf32>
}

// -----

// A mean, a sum of rows, a sum that is read twice, and three sums alone stay.
// CHECK-LABEL: @others
// CHECK-NOT: tg.concat
func.func @others(%x: tensor<8x64xf32>, %z: tensor<8xf32>) -> (tensor<f32>, tensor<f32>) {
  %0 = tg.reduce mean %x dims [0, 1] : tensor<8x64xf32> -> tensor<f32>
  %1 = tg.reduce sum %x dims [0, 1] : tensor<8x64xf32> -> tensor<f32>
  %2 = tg.reduce sum %x dims [0, 1] : tensor<8x64xf32> -> tensor<f32>
  %3 = tg.reduce max %x dims [0, 1] : tensor<8x64xf32> -> tensor<f32>
  %4 = tg.reduce sum %z dims [0] : tensor<8xf32> -> tensor<f32>
  %5 = tg.reduce sum %z dims [0] : tensor<8xf32> -> tensor<f32>
  %6 = arith.addf %0, %1 : tensor<f32>
  %7 = arith.addf %6, %2 : tensor<f32>
  %8 = arith.addf %7, %3 : tensor<f32>
  %9 = arith.addf %8, %4 : tensor<f32>
  %10 = arith.addf %9, %5 : tensor<f32>
  return %10, %1 : tensor<f32>, tensor<f32>
}

// -----

// One element is left over: it counts.
// CHECK-LABEL: @one_over
// CHECK: tensor<1xf32>
// CHECK: tg.concat
func.func @one_over(%a: tensor<65xf32>, %b: tensor<4097xf32>, %c: tensor<3xf32>, %d: tensor<1xf32>) -> tensor<f32> {
  %0 = tg.reduce sum %a dims [0] : tensor<65xf32> -> tensor<f32>
  %1 = tg.reduce sum %b dims [0] : tensor<4097xf32> -> tensor<f32>
  %2 = tg.reduce sum %c dims [0] : tensor<3xf32> -> tensor<f32>
  %3 = tg.reduce sum %d dims [0] : tensor<1xf32> -> tensor<f32>
  %4 = arith.addf %0, %1 : tensor<f32>
  %5 = arith.addf %2, %3 : tensor<f32>
  %6 = arith.addf %4, %5 : tensor<f32>
  return %6 : tensor<f32>
}
