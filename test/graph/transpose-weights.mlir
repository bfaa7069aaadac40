// Weights contracted over dim 0 are stored the other way around.
//
// RUN: braid-opt %s --tg-transpose-weights | FileCheck %s
// RUN: braid-opt %s --tg-transpose-weights --tg-transpose-weights | FileCheck %s

// CHECK-LABEL: @contracted
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<16x8xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "h", transposed>}
// CHECK: tg.contract "bd,fd->bf" %{{.*}}, %[[W]] : (tensor<4x8xf32>, tensor<16x8xf32>)
// CHECK: tg.contract "fd,bd->bf" %[[W]], %{{.*}} : (tensor<16x8xf32>, tensor<4x8xf32>)
func.func @contracted(%x: tensor<4x8xf32>, %w: tensor<8x16xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "h">})
    -> (tensor<4x16xf32>, tensor<4x16xf32>) {
  %0 = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = tg.contract "df,bd->bf" %w, %x : (tensor<8x16xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  return %0, %1 : tensor<4x16xf32>, tensor<4x16xf32>
}

// A parameter that was exchanged before is stored as checkpoints have it again.
// CHECK-LABEL: @back
// CHECK-SAME: %{{.*}}: tensor<16x8xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}
func.func @back(%x: tensor<4x8xf32>, %w: tensor<8x16xf32> {tg.param = #tg.param<"w", #tg.init<ones>, transposed>}) -> tensor<4x16xf32> {
  %0 = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// Other uses see the dims as they were.
// CHECK-LABEL: @other_uses
// CHECK: %[[T:.*]] = tg.transpose %[[W:[a-z0-9]+]] [1, 0] : tensor<16x8xf32> -> tensor<8x16xf32>
// CHECK: tg.contract "bd,fd->bf" %{{.*}}, %[[W]]
// CHECK: tg.reduce sum %[[T]] dims [0, 1]
// CHECK: return %{{.*}}, %{{.*}}, %[[T]]
func.func @other_uses(%x: tensor<4x8xf32>, %w: tensor<8x16xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
    -> (tensor<4x16xf32>, tensor<f32>, tensor<8x16xf32>) {
  %0 = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = tg.reduce sum %w dims [0, 1] : tensor<8x16xf32> -> tensor<f32>
  return %0, %1, %w : tensor<4x16xf32>, tensor<f32>, tensor<8x16xf32>
}

// State that the graph itself moves on is nobody's gradient.
// CHECK-LABEL: @state
// CHECK-SAME: tensor<16x8xf32> {tg.param = #tg.param<"w", #tg.init<ones>, transposed>}
// CHECK-SAME: tensor<i32> {tg.updates = "batches"}
func.func @state(%x: tensor<4x8xf32>, %w: tensor<8x16xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                 %batches: tensor<i32> {tg.state = #tg.state<"batches", #tg.init<zeros>, kind = running_statistic>})
    -> (tensor<4x16xf32>, tensor<i32> {tg.updates = "batches"}) {
  %0 = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %one = arith.constant dense<1> : tensor<i32>
  %count = arith.addi %batches, %one : tensor<i32>
  return %0, %count : tensor<4x16xf32>, tensor<i32>
}

// A weight whose new value the function computes itself keeps its shape, as does that value.
// CHECK-LABEL: @whole_step
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<8x16xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<16x8xf32> {tg.param = #tg.param<"fixed", #tg.init<ones>, transposed>}
func.func @whole_step(%x: tensor<4x8xf32>, %w: tensor<8x16xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                      %fixed: tensor<8x16xf32> {tg.param = #tg.param<"fixed", #tg.init<ones>>})
    -> (tensor<4x16xf32>, tensor<8x16xf32> {tg.updates = "w"}) {
  %0 = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = tg.contract "bd,df->bf" %x, %fixed : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %2 = arith.addf %0, %1 : tensor<4x16xf32>
  %3 = arith.addf %w, %w : tensor<8x16xf32>
  return %2, %3 : tensor<4x16xf32>, tensor<8x16xf32>
}

// What stays: a weight n x k, one contracted both ways, an embedding table, one
// that is not contracted, one of rank 3, and an input.
// CHECK-LABEL: @left_alone
// CHECK-NOT: transposed
// CHECK-NOT: tg.transpose
func.func @left_alone(%x: tensor<4x8xf32> {tg.input = "x"}, %i: tensor<4xi32> {tg.input = "i"}, %y: tensor<8x16xf32> {tg.input = "y"},
                      %a: tensor<8x8xf32> {tg.param = #tg.param<"a", #tg.init<ones>>},
                      %b: tensor<8x8xf32> {tg.param = #tg.param<"b", #tg.init<ones>>},
                      %c: tensor<8x8xf32> {tg.param = #tg.param<"c", #tg.init<ones>>},
                      %d: tensor<4x8xf32> {tg.param = #tg.param<"d", #tg.init<ones>>},
                      %e: tensor<8x2x3xf32> {tg.param = #tg.param<"e", #tg.init<ones>>}) -> tensor<4x2x3xf32> {
  %0 = tg.contract "bd,fd->bf" %x, %a : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = tg.contract "bd,fd->bf" %0, %b : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %2 = tg.contract "bd,df->bf" %1, %b : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %3 = tg.gather %c, %i : (tensor<8x8xf32>, tensor<4xi32>) -> tensor<4x8xf32>
  %4 = tg.contract "bd,df->bf" %3, %c : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %5 = arith.addf %4, %d : tensor<4x8xf32>
  %6 = tg.contract "bd,df->bf" %5, %y : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %7 = tg.contract "bd,dfg->bfg" %2, %e : (tensor<4x8xf32>, tensor<8x2x3xf32>) -> tensor<4x2x3xf32>
  return %7 : tensor<4x2x3xf32>
}
