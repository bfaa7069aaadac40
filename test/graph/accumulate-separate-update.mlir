// The update of a pipeline: @accumulate runs for every microbatch, and @train adds none of its own.
// RUN: braid-opt %s --tg-accumulate=separate-update --split-input-file --verify-diagnostics | FileCheck %s

// Sums are divided and become zeros; no input of the batch is left.
// CHECK-LABEL: func.func @train(
// CHECK-NOT: tg.input
// CHECK-SAME: %[[LOSS:arg[0-9]+]]: tensor<f32> {tg.state = #tg.state<"acc.loss"
// CHECK-SAME: %[[COUNT:arg[0-9]+]]: tensor<f32> {tg.state = #tg.state<"acc.count"
// CHECK-SAME: %[[GRAD:arg[0-9]+]]: tensor<4xf32> {tg.state = #tg.state<"acc.w", #tg.init<zeros>, of = "w"
// CHECK-NOT: tg.reduce
// CHECK: %[[N:.*]] = arith.maximumf %[[COUNT]],
// CHECK: %[[SCALE:.*]] = arith.divf %{{.*}}, %[[N]]
// CHECK-DAG: arith.mulf %[[LOSS]], %[[SCALE]]
// CHECK-DAG: arith.mulf %[[GRAD]],

// CHECK-LABEL: func.func @accumulate(
// CHECK-SAME: tg.input = "x"
// CHECK-SAME: (tensor<f32> {tg.updates = "steps"}, tensor<f32> {tg.updates = "acc.loss"}, tensor<f32> {tg.updates = "acc.count"}, tensor<4xf32> {tg.updates = "acc.w"})
// CHECK: tg.reduce sum
func.func @train(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                 %steps: tensor<f32> {tg.state = #tg.state<"steps", #tg.init<zeros>, kind = running_statistic>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<f32> {tg.updates = "steps"}, tensor<f32> {tg.role = #tg.role<count>}, tensor<4xf32> {tg.grad_of = "w"}) {
  %y = arith.mulf %x, %w : tensor<4xf32>
  %l = tg.reduce sum %y dims [0] : tensor<4xf32> -> tensor<f32>
  %four = arith.constant dense<4.0> : tensor<f32>
  %next = arith.addf %steps, %four : tensor<f32>
  %g = arith.addf %x, %x : tensor<4xf32>
  return %l, %next, %four, %g : tensor<f32>, tensor<f32>, tensor<f32>, tensor<4xf32>
}

// -----

// What a microbatch says beside its sums has no place in the update.
// expected-error @below {{result #1 belongs to one microbatch and is not a sum over microbatches, but the update of a pipeline has no microbatch; leave out the option that reports the value}}
func.func @train(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<4xf32> {tg.output = "y"}, tensor<4xf32> {tg.grad_of = "w"}) {
  %y = arith.mulf %x, %w : tensor<4xf32>
  %l = tg.reduce sum %y dims [0] : tensor<4xf32> -> tensor<f32>
  return %l, %y, %x : tensor<f32>, tensor<4xf32>, tensor<4xf32>
}
