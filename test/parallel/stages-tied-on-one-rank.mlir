// A parameter that the first and the last stage of a V read is on one rank.  Each of them adds its part of
// the gradient to the same accumulator, and nothing of it is sent along the stages between.
//
// RUN: braid-opt %s --tg-derive-facts --comm-stages="schedule=zb-v microbatches=3" | FileCheck %s --implicit-check-not="acc.e."
//
// In a loop they are on two ranks, and have two.
// RUN: braid-opt %s --tg-derive-facts --comm-stages="schedule=interleaved chunks=2 microbatches=2" | FileCheck %s --check-prefix=LOOP
// LOOP: func.func @backward_0(
// LOOP-SAME: tg.updates = "acc.e"}
// LOOP: func.func @backward_3(
// LOOP-SAME: tg.updates = "acc.e.stage3"}

comm.mesh @mesh [pp = 2]

func.func @accumulate(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                      %e: tensor<4xf32> {tg.param = #tg.param<"e", #tg.init<ones>>},
                      %t: tensor<4xf32> {tg.param = #tg.param<"t", #tg.init<ones>, unit = "a">},
                      %u: tensor<4xf32> {tg.param = #tg.param<"u", #tg.init<ones>, unit = "b">},
                      %v: tensor<4xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "c">},
                      %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "d">},
                      %sum: tensor<f32> {tg.state = #tg.state<"acc.loss", #tg.init<zeros>, kind = accumulator>},
                      %se: tensor<4xf32> {tg.state = #tg.state<"acc.e", #tg.init<zeros>, of = "e", kind = accumulator>})
    -> (tensor<f32> {tg.updates = "acc.loss"}, tensor<4xf32> {tg.updates = "acc.e"})
    attributes {comm.program = #comm.program<@mesh>} {
  %0 = arith.mulf %x, %e : tensor<4xf32>
  %a = arith.mulf %0, %t : tensor<4xf32>
  %b = arith.mulf %a, %u : tensor<4xf32>
  %c = arith.mulf %b, %v : tensor<4xf32>
  %d = arith.mulf %c, %w : tensor<4xf32>
  %y = arith.mulf %d, %e : tensor<4xf32>
  %l = tg.reduce sum %y dims [0] : tensor<4xf32> -> tensor<f32>
  %nl = arith.addf %sum, %l : tensor<f32>
  %dy = arith.mulf %y, %d : tensor<4xf32>
  %dd = arith.mulf %y, %e : tensor<4xf32>
  %dc = arith.mulf %dd, %w : tensor<4xf32>
  %db = arith.mulf %dc, %v : tensor<4xf32>
  %da = arith.mulf %db, %u : tensor<4xf32>
  %d0 = arith.mulf %da, %t : tensor<4xf32>
  %dx = arith.mulf %d0, %x : tensor<4xf32>
  %de = arith.addf %dy, %dx : tensor<4xf32>
  %ne = arith.addf %se, %de : tensor<4xf32>
  return %nl, %ne : tensor<f32>, tensor<4xf32>
}

// CHECK: func.func @weight_gradient_0(
// CHECK-SAME: %[[SUM:arg[0-9]+]]: tensor<4xf32> {tg.state = #tg.state<"acc.e"
// CHECK-SAME: -> (tensor<4xf32> {tg.updates = "acc.e"})
// CHECK-SAME: pp = [0]
// CHECK: arith.addf %[[SUM]],
// CHECK: func.func @send_gradient_1(
// CHECK-NEXT: comm.send %arg0 to 0
// CHECK: func.func @weight_gradient_3(
// CHECK-SAME: %[[SUM:arg[0-9]+]]: tensor<4xf32> {tg.state = #tg.state<"acc.e"
// CHECK-SAME: -> (tensor<4xf32> {tg.updates = "acc.e"})
// CHECK-SAME: pp = [0]
// CHECK: arith.addf %[[SUM]],
// CHECK: func.func @send_gradient_3(
// CHECK-NEXT: comm.send %arg0 to 1
