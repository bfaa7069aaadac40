// Backward in two parts: `I` is what the gradient of the stage's input depends on, `W` is the rest.
//
// RUN: braid-opt %s --tg-derive-facts --comm-stages="schedule=zb-h1 microbatches=2" | FileCheck %s --implicit-check-not=@backward_
// RUN: braid-opt %s --tg-derive-facts --comm-stages="schedule=1f1b microbatches=2" | FileCheck %s --check-prefix=WHOLE --implicit-check-not=@input_gradient --implicit-check-not=@weight_gradient

comm.mesh @mesh [pp = 2]

func.func @accumulate(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                      %v: tensor<4xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "a">},
                      %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "b">},
                      %sum: tensor<f32> {tg.state = #tg.state<"acc.loss", #tg.init<zeros>, kind = accumulator>},
                      %sv: tensor<4xf32> {tg.state = #tg.state<"acc.v", #tg.init<zeros>, of = "v", kind = accumulator>},
                      %sw: tensor<4xf32> {tg.state = #tg.state<"acc.w", #tg.init<zeros>, of = "w", kind = accumulator>})
    -> (tensor<f32> {tg.updates = "acc.loss"}, tensor<4xf32> {tg.updates = "acc.v"}, tensor<4xf32> {tg.updates = "acc.w"})
    attributes {comm.program = #comm.program<@mesh>} {
  %a = arith.mulf %x, %v : tensor<4xf32>
  %b = arith.mulf %a, %w : tensor<4xf32>
  %b2 = arith.mulf %b, %b : tensor<4xf32>
  %l = tg.reduce sum %b2 dims [0] : tensor<4xf32> -> tensor<f32>
  %nl = arith.addf %sum, %l : tensor<f32>
  %db = arith.addf %b, %b : tensor<4xf32>
  %da = arith.mulf %db, %w : tensor<4xf32>
  %dw = arith.mulf %db, %a : tensor<4xf32>
  %nw = arith.addf %sw, %dw : tensor<4xf32>
  %dv = arith.mulf %da, %x : tensor<4xf32>
  %nv = arith.addf %sv, %dv : tensor<4xf32>
  return %nl, %nv, %nw : tensor<f32>, tensor<4xf32>, tensor<4xf32>
}

// The first stage sends no gradient, so its I is empty.
// CHECK: func.func @input_gradient_0() attributes {comm.cell = #comm.cell<input_gradient, 0>
// CHECK-NEXT: return
// CHECK: func.func @weight_gradient_0(
// CHECK-SAME: exec.slots = @stage0_gradient_in
// CHECK-SAME: -> (tensor<4xf32> {tg.updates = "acc.v"})
// CHECK-SAME: comm.cell = #comm.cell<weight_gradient, 0>

// I sends its gradient, and saves for W what both read.
// CHECK: func.func @input_gradient_1(
// CHECK-SAME: %[[B:arg1]]: tensor<4xf32> {exec.slots = @stage1_saved, tg.state = #tg.state<"stage1_saved.0"
// CHECK-SAME: -> (tensor<4xf32> {tg.updates = "stage1_gradient_out.0"}, tensor<4xf32> {tg.updates = "stage1_saved.1"})
// CHECK-NEXT: %[[DB:.*]] = arith.addf %[[B]], %[[B]]
// CHECK-NEXT: %[[DA:.*]] = arith.mulf %[[DB]], %arg0
// CHECK-NEXT: return %[[DA]], %[[DB]]

// W reads that, and no longer what forward saved.
// CHECK: func.func @weight_gradient_1(
// CHECK-NOT: stage1_saved.0
// CHECK-SAME: %[[A:arg2]]: tensor<4xf32> {exec.slots = @stage1_activation_in
// CHECK-SAME: %[[DB:arg3]]: tensor<4xf32> {exec.slots = @stage1_saved, tg.state = #tg.state<"stage1_saved.1"
// CHECK-SAME: -> (tensor<4xf32> {tg.updates = "acc.w"})
// CHECK-NEXT: %[[DW:.*]] = arith.mulf %[[DB]], %[[A]]
// CHECK-NEXT: %[[NEW:.*]] = arith.addf %arg1, %[[DW]]
// CHECK-NEXT: return %[[NEW]]

// A whole backward has both and saves nothing between them.
// WHOLE: func.func @backward_1(
// WHOLE-NOT: stage1_saved.1
// WHOLE-SAME: -> (tensor<4xf32> {tg.updates = "acc.w"}, tensor<4xf32> {tg.updates = "stage1_gradient_out.0"})
