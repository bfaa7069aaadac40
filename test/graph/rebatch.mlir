// The batch follows the ops' rules through the whole graph.
//
// RUN: braid-opt %s --tg-rebatch=factor=2 | FileCheck %s
// RUN: braid-opt %s --tg-rebatch=batch=2 | FileCheck %s
// RUN: braid-opt %s --tg-rebatch=batch=4 | FileCheck %s --check-prefix=SAME
// RUN: braid-opt %s --tg-rebatch=batch=12 | FileCheck %s --check-prefix=GROW

// The batch is inside dims that reshapes join and split, and behind a transpose.
// SAME-LABEL: @dims
// SAME: tg.reshape %{{.*}} : tensor<4x6x8xf32> -> tensor<24x8xf32>
// GROW-LABEL: @dims
// GROW: tg.reshape %{{.*}} : tensor<12x6x8xf32> -> tensor<72x8xf32>
// CHECK-LABEL: @dims
// CHECK-SAME: tensor<2x6x8xf32>
// CHECK-SAME: -> (tensor<16x2x6xf32>, tensor<2xf32>)
func.func @dims(%x: tensor<4x6x8xf32> {tg.input = "x", tg.role = #tg.role<features>}, %w: tensor<8x16xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
    -> (tensor<16x4x6xf32>, tensor<4xf32>) {
  // CHECK: tg.reshape %{{.*}} : tensor<2x6x8xf32> -> tensor<12x8xf32>
  %0 = tg.reshape %x : tensor<4x6x8xf32> -> tensor<24x8xf32>
  // CHECK: tg.contract {{.*}} -> tensor<12x16xf32>
  %1 = tg.contract "bd,df->bf" %0, %w : (tensor<24x8xf32>, tensor<8x16xf32>) -> tensor<24x16xf32>
  %2 = tg.silu %1 : tensor<24x16xf32>
  // CHECK: tg.transpose %{{.*}} [1, 0] : tensor<12x16xf32> -> tensor<16x12xf32>
  %3 = tg.transpose %2 [1, 0] : tensor<24x16xf32> -> tensor<16x24xf32>
  // CHECK: tg.reshape %{{.*}} : tensor<16x12xf32> -> tensor<16x2x6xf32>
  %4 = tg.reshape %3 : tensor<16x24xf32> -> tensor<16x4x6xf32>
  // CHECK: tg.reduce mean %{{.*}} dims [0, 2] : tensor<16x2x6xf32> -> tensor<2xf32>
  %5 = tg.reduce mean %4 dims [0, 2] : tensor<16x4x6xf32> -> tensor<4xf32>
  return %4, %5 : tensor<16x4x6xf32>, tensor<4xf32>
}

// Constants and broadcasts follow the values they meet, each use for itself: the
// zeros are 4 x 4 in the graph, but one use has a batch and the other has not.
// CHECK-LABEL: @sources
// CHECK-DAG: arith.constant dense<0.000000e+00> : tensor<2x4xf32>
// CHECK-DAG: arith.constant dense<0.000000e+00> : tensor<4x4xf32>
// CHECK-DAG: tg.broadcast %{{.*}} dims [1] : tensor<4xf32> -> tensor<2x4xf32>
// CHECK-DAG: tg.iota dim 1 : tensor<2x4xi32>
// CHECK-DAG: arith.maximumf %{{.*}} : tensor<2x4xf32>
// CHECK-DAG: arith.maximumf %{{.*}} : tensor<4x4xf32>
// CHECK-DAG: tg.dropout %{{.*}} : (tensor<2x4xf32>, tensor<4xi32>) -> tensor<2x4xf32>
// CHECK-DAG: tg.random_uniform %{{.*}} stream 1 : tensor<4xi32> -> tensor<2x4xf32>
func.func @sources(%x: tensor<4x4xf32> {tg.input = "x", tg.role = #tg.role<features>}, %b: tensor<4xf32> {tg.param = #tg.param<"b", #tg.init<ones>>},
                   %w: tensor<4x4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}, %key: tensor<4xi32> {tg.input = "key", tg.role = #tg.role<key>})
    -> tensor<4x4xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = arith.maximumf %x, %zeros : tensor<4x4xf32>
  %1 = arith.maximumf %w, %zeros : tensor<4x4xf32>
  %2 = tg.contract "bd,fd->bf" %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = tg.broadcast %b dims [1] : tensor<4xf32> -> tensor<4x4xf32>
  %4 = arith.addf %2, %3 : tensor<4x4xf32>
  %5 = tg.iota dim 1 : tensor<4x4xi32>
  %6 = tg.convert %5 : tensor<4x4xi32> -> tensor<4x4xf32>
  %7 = arith.addf %4, %6 : tensor<4x4xf32>
  %8 = tg.dropout %7, %key rate 0.1 stream 0 : (tensor<4x4xf32>, tensor<4xi32>) -> tensor<4x4xf32>
  %9 = tg.random_uniform %key stream 1 : tensor<4xi32> -> tensor<4x4xf32>
  %10 = arith.mulf %8, %9 : tensor<4x4xf32>
  return %10 : tensor<4x4xf32>
}

// CHECK-LABEL: @model
// CHECK: tg.gather {{.*}} -> tensor<2x6x8xf32>
// CHECK: tg.layer_norm {{.*}} -> (tensor<2x6x8xf32>, tensor<2x6xf32>, tensor<2x6xf32>)
// CHECK: tg.attention {{.*}} -> (tensor<2x6x2x4xf32>, tensor<2x2x6xf32>)
// CHECK: tg.cross_entropy mean {{.*}} -> (tensor<f32>, tensor<2x6xf32>)
func.func @model(%t: tensor<4x6xi32> {tg.input = "tokens", tg.role = #tg.role<tokens>}, %y: tensor<4x6xi32> {tg.input = "targets", tg.role = #tg.role<targets>},
                 %e: tensor<16x8xf32> {tg.param = #tg.param<"e", #tg.init<ones>>}, %g: tensor<8xf32> {tg.param = #tg.param<"g", #tg.init<ones>>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<4x6x16xf32> {tg.role = #tg.role<logits>}) {
  %0 = tg.gather %e, %t : (tensor<16x8xf32>, tensor<4x6xi32>) -> tensor<4x6x8xf32>
  %1:3 = tg.layer_norm %0, %g eps 1.0e-5 : (tensor<4x6x8xf32>, tensor<8xf32>) -> (tensor<4x6x8xf32>, tensor<4x6xf32>, tensor<4x6xf32>)
  %2 = tg.reshape %1#0 : tensor<4x6x8xf32> -> tensor<4x6x2x4xf32>
  %3 = tg.rope %2 theta 1.0e4 : tensor<4x6x2x4xf32>
  %4:2 = tg.attention %3, %3, %2 scale 0.5 causal : (tensor<4x6x2x4xf32>, tensor<4x6x2x4xf32>, tensor<4x6x2x4xf32>) -> (tensor<4x6x2x4xf32>, tensor<4x2x6xf32>)
  %5 = tg.reshape %4#0 : tensor<4x6x2x4xf32> -> tensor<4x6x8xf32>
  %6 = tg.contract "bsd,vd->bsv" %5, %e : (tensor<4x6x8xf32>, tensor<16x8xf32>) -> tensor<4x6x16xf32>
  %7:2 = tg.cross_entropy mean %6, %y ignore -100 : (tensor<4x6x16xf32>, tensor<4x6xi32>) -> (tensor<f32>, tensor<4x6xf32>)
  return %7#0, %6 : tensor<f32>, tensor<4x6x16xf32>
}
