// States of the model itself, and sums that depend on no example.
//
// RUN: braid-opt %s --tg-derive-facts --comm-stages="schedule=gpipe" | FileCheck %s
//
// A stage that reads what another updates would find what an older microbatch left.
// RUN: sed 's/%%b0 = arith.mulf %%a, %%w/%%b0 = arith.mulf %%mean, %%w/' %s | not braid-opt - --tg-derive-facts --comm-stages="schedule=gpipe" 2>&1 | FileCheck %s --check-prefix=READ
// READ: error: the state "running_mean" is updated by @forward_0 and read by @forward_1; in a pipeline, only the cell that updates a state may read it
//
// So would backward, behind the forward of other microbatches.
// RUN: sed 's/%%da = arith.mulf %%b, %%w/%%m = arith.mulf %%mean, %%x : tensor<4xf32>\n  %%da = arith.mulf %%b, %%m/' %s | not braid-opt - --tg-derive-facts --comm-stages="schedule=gpipe" 2>&1 | FileCheck %s --check-prefix=BACKWARD
// BACKWARD: error: the state "running_mean" is updated by @forward_0 and read by @backward_1;

comm.mesh @mesh [pp = 2]

func.func @accumulate(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                      %v: tensor<4xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "a">},
                      %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "b">},
                      %mean: tensor<4xf32> {tg.state = #tg.state<"running_mean", #tg.init<zeros>, kind = running_statistic>},
                      %batches: tensor<f32> {tg.state = #tg.state<"batches", #tg.init<zeros>, kind = running_statistic>},
                      %sum: tensor<f32> {tg.state = #tg.state<"acc.loss", #tg.init<zeros>, kind = accumulator>},
                      %count: tensor<f32> {tg.state = #tg.state<"acc.count", #tg.init<zeros>, kind = accumulator>},
                      %sv: tensor<4xf32> {tg.state = #tg.state<"acc.v", #tg.init<zeros>, of = "v", kind = accumulator>})
    -> (tensor<4xf32> {tg.updates = "running_mean"}, tensor<f32> {tg.updates = "batches"},
        tensor<f32> {tg.updates = "acc.loss"}, tensor<f32> {tg.updates = "acc.count"}, tensor<4xf32> {tg.updates = "acc.v"})
    attributes {comm.program = #comm.program<@mesh>} {
  %a = arith.mulf %x, %v : tensor<4xf32>
  %moved = arith.addf %mean, %a : tensor<4xf32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %next = arith.addf %batches, %one : tensor<f32>
  %b0 = arith.mulf %a, %w : tensor<4xf32>
  %b = arith.mulf %b0, %a : tensor<4xf32>
  %l = tg.reduce sum %b dims [0] : tensor<4xf32> -> tensor<f32>
  %nl = arith.addf %sum, %l : tensor<f32>
  %four = arith.constant dense<4.0> : tensor<f32>
  %nc = arith.addf %count, %four : tensor<f32>
  %da = arith.mulf %b, %w : tensor<4xf32>
  %dv = arith.mulf %da, %x : tensor<4xf32>
  %nv = arith.addf %sv, %dv : tensor<4xf32>
  return %moved, %next, %nl, %nc, %nv : tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<4xf32>
}

// A statistic is with what it is made of, and a counter somewhere.
// CHECK-LABEL: func.func @forward_0(
// CHECK-SAME: {tg.updates = "running_mean"}
// CHECK-SAME: {tg.updates = "batches"}

// The count that divides the loss is with it, though it is the same for every microbatch.
// CHECK-LABEL: func.func @forward_1(
// CHECK-SAME: {tg.updates = "acc.loss"}, tensor<f32> {tg.updates = "acc.count"}
// CHECK: %[[FOUR:.*]] = arith.constant dense<4.0
// CHECK: arith.addf %{{.*}}, %[[FOUR]]
