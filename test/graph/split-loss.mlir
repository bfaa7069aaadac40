// A mean becomes a sum and what it is to be divided by.
//
// RUN: braid-opt %s --tg-split-loss --split-input-file | FileCheck %s
// RUN: braid-opt %s --tg-split-loss --split-input-file --verify-diagnostics

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
// -----

// Other terms are weighted by the count: a penalty of weights, and what depends on the batch, of which a remark speaks.
// CHECK-LABEL: @train
// CHECK: %[[P:.*]] = tg.reduce sum %{{.*}} dims [0] : tensor<8xf32> -> tensor<f32>
// CHECK: %[[S:.*]] = tg.reduce sum %{{.*}} dims [0, 1] : tensor<4x8xf32> -> tensor<f32>
// CHECK: %[[N:.*]] = arith.constant dense<3.200000e+01> : tensor<f32>
// CHECK: %[[M:.*]] = tg.reduce max %{{.*}} dims [0, 1] : tensor<4x8xf32> -> tensor<f32>
// CHECK: %[[WP:.*]] = arith.mulf %[[P]], %[[N]] : tensor<f32>
// CHECK: %[[A:.*]] = arith.addf %[[WP]], %[[S]] : tensor<f32>
// CHECK: %[[WM:.*]] = arith.mulf %[[M]], %[[N]] : tensor<f32>
// CHECK: %[[L:.*]] = arith.addf %[[A]], %[[WM]] : tensor<f32>
// CHECK: return %[[L]], %[[N]]
func.func @train(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>}, %w: tensor<8xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %p = tg.reduce sum %w dims [0] : tensor<8xf32> -> tensor<f32>
  %0 = tg.reduce mean %x dims [0, 1] : tensor<4x8xf32> -> tensor<f32>
  // expected-remark @below {{this term of the loss is computed per microbatch: a step has the mean over its microbatches, weighted by their targets, not the term of the whole batch}}
  %m = tg.reduce max %x dims [0, 1] : tensor<4x8xf32> -> tensor<f32>
  %1 = arith.addf %p, %0 : tensor<f32>
  %2 = arith.addf %1, %m : tensor<f32>
  return %2 : tensor<f32>
}

// -----

// Without any target the other terms keep a weight, which is below the last digit of any count.
// CHECK-LABEL: @train
// CHECK: %[[N:.*]] = tg.count %{{.*}} ignore -100 as 8.6736173798840{{.*}}E-19 : tensor<4xi32> -> tensor<f32>
// CHECK: %[[W:.*]] = arith.mulf %{{.*}}, %[[N]] : tensor<f32>
// CHECK: return %{{.*}}, %[[N]]
func.func @train(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>}, %y: tensor<4xi32> {tg.input = "y", tg.role = #tg.role<labels>},
                 %w: tensor<8xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %p = tg.reduce sum %w dims [0] : tensor<8xf32> -> tensor<f32>
  %0:2 = tg.cross_entropy mean %x, %y ignore -100 : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  %1 = arith.addf %p, %0#0 : tensor<f32>
  return %1 : tensor<f32>
}

// -----

// The term whose divisor the data choose is the one that is split, whatever the order.
// CHECK-LABEL: @train
// CHECK: tg.reduce mean
// CHECK: tg.cross_entropy sum
// CHECK: tg.count
func.func @train(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>}, %y: tensor<4xi32> {tg.input = "y", tg.role = #tg.role<labels>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  // expected-remark @below {{this term of the loss is computed per microbatch}}
  %m = tg.reduce mean %x dims [0, 1] : tensor<4x8xf32> -> tensor<f32>
  %0:2 = tg.cross_entropy mean %x, %y ignore -100 : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  %1 = arith.addf %m, %0#0 : tensor<f32>
  return %1 : tensor<f32>
}
