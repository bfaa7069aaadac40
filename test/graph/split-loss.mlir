// A mean becomes a sum and what it is to be divided by.
//
// RUN: braid-opt %s --tg-split-loss --split-input-file | FileCheck %s

// CHECK-LABEL: @train
// CHECK-SAME: -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<4x6x8xf32> {tg.role = #tg.role<logits>}, tensor<f32> {tg.role = #tg.role<count>})
// CHECK: %[[L:.*]], %{{.*}} = tg.cross_entropy sum %{{.*}}, %[[Y:.*]] ignore 7 :
// CHECK: %[[N:.*]] = tg.count %[[Y]] ignore 7 : tensor<4x6xi32> -> tensor<f32>
// CHECK: return %[[L]], %{{.*}}, %[[N]]
func.func @train(%x: tensor<4x6x8xf32> {tg.input = "x", tg.role = #tg.role<features>}, %y: tensor<4x6xi32> {tg.input = "targets", tg.role = #tg.role<targets>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<4x6x8xf32> {tg.role = #tg.role<logits>}) {
  %0:2 = tg.cross_entropy mean %x, %y ignore 7 : (tensor<4x6x8xf32>, tensor<4x6xi32>) -> (tensor<f32>, tensor<4x6xf32>)
  return %0#0, %x : tensor<f32>, tensor<4x6x8xf32>
}

// -----

// A sum is one already.
// CHECK-LABEL: @train
// CHECK-SAME: -> (tensor<f32> {tg.role = #tg.role<loss>}) {
// CHECK: tg.cross_entropy sum
func.func @train(%x: tensor<4x6x8xf32> {tg.input = "x", tg.role = #tg.role<features>}, %y: tensor<4x6xi32> {tg.input = "targets", tg.role = #tg.role<targets>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %0:2 = tg.cross_entropy sum %x, %y ignore 7 : (tensor<4x6x8xf32>, tensor<4x6xi32>) -> (tensor<f32>, tensor<4x6xf32>)
  return %0#0 : tensor<f32>
}

// -----

// The means of examples are theirs; the mean over the batch is split, through a
// reshape.
// CHECK-LABEL: @train
// CHECK: tg.reduce mean %{{.*}} dims [1] : tensor<4x8xf32> -> tensor<4xf32>
// CHECK: %[[S:.*]] = tg.reduce sum %{{.*}} dims [1] : tensor<1x4xf32> -> tensor<1xf32>
// CHECK: %[[N:.*]] = arith.constant dense<4.000000e+00> : tensor<f32>
// CHECK: %[[L:.*]] = tg.reshape %[[S]] : tensor<1xf32> -> tensor<f32>
// CHECK: return %[[L]], %[[N]]
func.func @train(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %0 = tg.reduce mean %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %1 = tg.reshape %0 : tensor<4xf32> -> tensor<1x4xf32>
  %2 = tg.reduce mean %1 dims [1] : tensor<1x4xf32> -> tensor<1xf32>
  %3 = tg.reshape %2 : tensor<1xf32> -> tensor<f32>
  return %3 : tensor<f32>
}

// Other functions stay.
// CHECK-LABEL: @eval
// CHECK: tg.reduce mean
func.func @eval(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %0 = tg.reduce mean %x dims [0] : tensor<4xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
