// A batch of one is followed too: dims of size 1 keep their order in reshapes.
//
// RUN: braid-opt %s --tg-rebatch=batch=3 | FileCheck %s

// CHECK-LABEL: @grow
// CHECK-SAME: tensor<3x8x4xf32>
// CHECK-SAME: %{{.*}}: tensor<1x8x4xf32> {tg.param
// CHECK: tg.broadcast %{{.*}} dims [0, 1, 2] : tensor<1x8x4xf32> -> tensor<3x8x4xf32>
// CHECK: tg.reshape %{{.*}} : tensor<3x8x4xf32> -> tensor<24x4xf32>
// CHECK: tg.reshape %{{.*}} : tensor<24x4xf32> -> tensor<3x2x1x4x4xf32>
// CHECK: tg.reduce sum %{{.*}} dims [3] : tensor<3x2x1x4x4xf32> -> tensor<3x2x1x4xf32>
func.func @grow(%x: tensor<1x8x4xf32> {tg.input = "x", tg.role = #tg.role<features>}, %w: tensor<1x8x4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> tensor<1x2x1x4xf32> {
  %0 = tg.broadcast %w dims [0, 1, 2] : tensor<1x8x4xf32> -> tensor<1x8x4xf32>
  %1 = arith.addf %x, %0 : tensor<1x8x4xf32>
  %2 = tg.reshape %1 : tensor<1x8x4xf32> -> tensor<8x4xf32>
  %3 = tg.reshape %2 : tensor<8x4xf32> -> tensor<1x2x1x4x4xf32>
  %4 = tg.reduce sum %3 dims [3] : tensor<1x2x1x4x4xf32> -> tensor<1x2x1x4xf32>
  return %4 : tensor<1x2x1x4xf32>
}
