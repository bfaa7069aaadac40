// Two programs: one adds a microbatch up, the other ends the step.
//
// RUN: braid-opt %s --tg-accumulate --split-input-file | FileCheck %s

// A mean: loss and gradients are divided by the whole count.  The accumulator is
// stored as its parameter is; the zeros of an unused parameter need none.
// CHECK-LABEL: func.func @train
// CHECK-SAME: %[[AL:[a-z0-9]+]]: tensor<f32> {tg.state = #tg.state<"acc.loss", #tg.init<zeros>, kind = accumulator>}
// CHECK-SAME: %[[AC:[a-z0-9]+]]: tensor<f32> {tg.state = #tg.state<"acc.count", #tg.init<zeros>, kind = accumulator>}
// CHECK-SAME: %[[AW:[a-z0-9]+]]: tensor<3xf32> {tg.state = #tg.state<"acc.w", #tg.init<zeros>, of = "w", kind = accumulator, transposed>}
// CHECK-NOT: acc.unused
// CHECK-SAME: -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<3xf32> {tg.grad_of = "w"}, tensor<3xf32> {tg.grad_of = "unused"}, tensor<f32> {tg.updates = "acc.loss"}, tensor<f32> {tg.updates = "acc.count"}, tensor<3xf32> {tg.updates = "acc.w"})
// CHECK-DAG: %[[L:.*]] = arith.addf %[[AL]], %[[LOSS:.*]] : tensor<f32>
// CHECK-DAG: %[[N:.*]] = arith.addf %[[AC]], %[[COUNT:.*]] : tensor<f32>
// CHECK-DAG: %[[G:.*]] = arith.addf %[[AW]], %[[GRAD:.*]] : tensor<3xf32>
// CHECK-DAG: %[[D:.*]] = arith.maximumf %[[N]], %{{.*}} : tensor<f32>
// CHECK-DAG: %[[R:.*]] = arith.divf %{{.*}}, %[[D]] : tensor<f32>
// CHECK-DAG: %[[MEAN:.*]] = arith.mulf %[[L]], %[[R]]
// CHECK-DAG: %[[B:.*]] = tg.broadcast %[[R]] dims [] : tensor<f32> -> tensor<3xf32>
// CHECK-DAG: %[[DW:.*]] = arith.mulf %[[G]], %[[B]] : tensor<3xf32>
// CHECK: return %[[MEAN]], %[[DW]], %{{.*}}, %[[Z0:.*]], %[[Z1:.*]], %[[Z2:.*]] : tensor<f32>, tensor<3xf32>, tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<3xf32>

// CHECK-LABEL: func.func @accumulate
// CHECK-SAME: -> (tensor<f32> {tg.updates = "acc.loss"}, tensor<f32> {tg.updates = "acc.count"}, tensor<3xf32> {tg.updates = "acc.w"})
// CHECK-NOT: arith.divf
func.func @train(%x: tensor<3xf32> {tg.input = "x", tg.role = #tg.role<features>}, %w: tensor<3xf32> {tg.param = #tg.param<"w", #tg.init<ones>, transposed>},
                 %u: tensor<3xf32> {tg.param = #tg.param<"unused", #tg.init<ones>>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<f32> {tg.role = #tg.role<count>}, tensor<3xf32> {tg.grad_of = "w"}, tensor<3xf32> {tg.grad_of = "unused"}) {
  %0 = arith.mulf %x, %w : tensor<3xf32>
  %1 = tg.reduce sum %0 dims [0] : tensor<3xf32> -> tensor<f32>
  %2 = arith.constant dense<3.0> : tensor<f32>
  %3 = arith.constant dense<0.0> : tensor<3xf32>
  return %1, %2, %x, %3 : tensor<f32>, tensor<f32>, tensor<3xf32>, tensor<3xf32>
}

// -----

// State of the model's own moves on with every microbatch.
// CHECK-LABEL: func.func @train
// CHECK-SAME: -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<3xf32> {tg.grad_of = "w"}, tensor<i32> {tg.updates = "batches"}, tensor<f32> {tg.updates = "acc.loss"}
// CHECK-LABEL: func.func @accumulate
// CHECK-SAME: -> (tensor<i32> {tg.updates = "batches"}, tensor<f32> {tg.updates = "acc.loss"}
// CHECK: %[[COUNT:.*]] = arith.addi
// CHECK: return %[[COUNT]], %{{.*}}
func.func @train(%x: tensor<3xf32> {tg.input = "x", tg.role = #tg.role<features>}, %w: tensor<3xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                 %batches: tensor<i32> {tg.state = #tg.state<"batches", #tg.init<zeros>, kind = running_statistic>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<3xf32> {tg.grad_of = "w"}, tensor<i32> {tg.updates = "batches"}) {
  %0 = arith.mulf %x, %w : tensor<3xf32>
  %1 = tg.reduce sum %0 dims [0] : tensor<3xf32> -> tensor<f32>
  %2 = arith.constant dense<1> : tensor<i32>
  %3 = arith.addi %batches, %2 : tensor<i32>
  return %1, %x, %3 : tensor<f32>, tensor<3xf32>, tensor<i32>
}

// -----

// What the model counts adds up, and is no mean.
// CHECK-LABEL: func.func @train
// CHECK-SAME: %[[AD:[a-z0-9]+]]: tensor<f32> {tg.state = #tg.state<"acc.dropped", #tg.init<zeros>, kind = accumulator>}
// CHECK-SAME: tensor<f32> {tg.output = "dropped"}
// CHECK: %[[D:.*]] = arith.addf %[[AD]], %{{.*}} : tensor<f32>
// CHECK: return %{{[^,]*}}, %[[D]],
// CHECK-LABEL: func.func @accumulate
// CHECK-SAME: tensor<f32> {tg.updates = "acc.dropped"}
func.func @train(%x: tensor<3xf32> {tg.input = "x", tg.role = #tg.role<features>}, %w: tensor<3xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<f32> {tg.role = #tg.role<count>}, tensor<f32> {tg.output = "dropped"}, tensor<3xf32> {tg.grad_of = "w"}) {
  %0 = arith.mulf %x, %w : tensor<3xf32>
  %1 = tg.reduce sum %0 dims [0] : tensor<3xf32> -> tensor<f32>
  %2 = arith.constant dense<3.0> : tensor<f32>
  %3 = tg.reduce max %x dims [0] : tensor<3xf32> -> tensor<f32>
  return %1, %2, %3, %x : tensor<f32>, tensor<f32>, tensor<f32>, tensor<3xf32>
}
