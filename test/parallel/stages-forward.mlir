// Evaluation and generation go through the stages once: a rank computes the ops of its stages and
// sends what others read.
//
// RUN: braid-opt %s --tg-derive-facts --comm-stages="schedule=1f1b microbatches=2 stages=a+b|c+d" | FileCheck %s
// RUN: braid-opt %s --tg-derive-facts --comm-stages="schedule=zb-v microbatches=3 stages=embed+a|b|c|d+head" | FileCheck %s --check-prefix=V

comm.mesh @mesh [pp = 2]

func.func @accumulate(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                      %t: tensor<4xf32> {tg.param = #tg.param<"t", #tg.init<ones>, unit = "a">},
                      %u: tensor<4xf32> {tg.param = #tg.param<"u", #tg.init<ones>, unit = "b">},
                      %v: tensor<4xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "c">},
                      %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "d">},
                      %sum: tensor<f32> {tg.state = #tg.state<"acc.loss", #tg.init<zeros>, kind = accumulator>})
    -> (tensor<f32> {tg.updates = "acc.loss"}) attributes {comm.program = #comm.program<@mesh>} {
  %a = arith.mulf %x, %t : tensor<4xf32>
  %b = arith.mulf %a, %u : tensor<4xf32>
  %c = arith.mulf %b, %v : tensor<4xf32>
  %d = arith.mulf %c, %w : tensor<4xf32>
  %l = tg.reduce sum %d dims [0] : tensor<4xf32> -> tensor<f32>
  %nl = arith.addf %sum, %l : tensor<f32>
  return %nl : tensor<f32>
}

// All ranks say the loss.
func.func @eval(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                %t: tensor<4xf32> {tg.param = #tg.param<"t", #tg.init<ones>, unit = "a">},
                %u: tensor<4xf32> {tg.param = #tg.param<"u", #tg.init<ones>, unit = "b">},
                %v: tensor<4xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "c">},
                %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "d">})
    -> (tensor<f32> {tg.role = #tg.role<loss>}) attributes {comm.program = #comm.program<@mesh>} {
  %a = arith.mulf %x, %t : tensor<4xf32>
  %b = arith.mulf %a, %u : tensor<4xf32>
  %c = arith.mulf %b, %v : tensor<4xf32>
  %d = arith.mulf %c, %w : tensor<4xf32>
  %l = tg.reduce sum %d dims [0] : tensor<4xf32> -> tensor<f32>
  return %l : tensor<f32>
}

// CHECK-LABEL: func.func @eval_pp0(
// CHECK-SAME: tg.param = #tg.param<"t"
// CHECK-SAME: tg.param = #tg.param<"u"
// CHECK-NOT: tg.param
// CHECK-SAME: comm.entry = "eval", comm.program = #comm.program<@mesh, pp = [0]>
// CHECK: %[[B:.*]] = arith.mulf %{{.*}}, %arg2
// CHECK-NEXT: comm.send %[[B]] to 1 over @mesh {pp}
// CHECK-NEXT: %[[LOSS:.*]] = comm.broadcast root 1 over @mesh {pp}{{.*}} : () -> tensor<f32>
// CHECK-NEXT: return %[[LOSS]]
// CHECK-LABEL: func.func @eval_pp1(
// CHECK-SAME: tg.input = "x"
// CHECK-SAME: comm.entry = "eval", comm.program = #comm.program<@mesh, pp = [1]>
// CHECK-NEXT: %[[B:.*]] = comm.recv from 0 over @mesh {pp}
// CHECK-NEXT: arith.mulf %[[B]],
// CHECK: %[[LOSS:.*]] = tg.reduce sum
// CHECK-NEXT: comm.broadcast %[[LOSS]] root 1 over @mesh {pp}{{.*}} : (tensor<f32>) -> ()
// CHECK-NEXT: return %[[LOSS]]

// A V ends on the rank where it began.
// V-LABEL: func.func @eval_pp0(
// V: comm.send %{{.*}} to 1
// V-NEXT: comm.recv from 1
// V: comm.broadcast %{{.*}} root 0
// V-LABEL: func.func @eval_pp1(
// V: comm.recv from 0
// V-NOT: comm.send
// V: arith.mulf
// V-NEXT: arith.mulf
// V-NEXT: comm.send %{{.*}} to 0
// V-NEXT: comm.broadcast root 0

// A cache is with the stage that fills it.
func.func @decode(%t: tensor<4xf32> {tg.param = #tg.param<"t", #tg.init<ones>, unit = "a">},
                  %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "d">},
                  %cache: tensor<4xf32> {tg.state = #tg.state<"cache", #tg.init<zeros>, kind = cache>},
                  %x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>})
    -> (tensor<4xf32> {tg.role = #tg.role<logits>}, tensor<4xf32> {tg.updates = "cache"}) attributes {comm.program = #comm.program<@mesh>} {
  %a = arith.mulf %x, %t : tensor<4xf32>
  %d = arith.mulf %a, %w : tensor<4xf32>
  %new = arith.addf %cache, %d : tensor<4xf32>
  %y = arith.mulf %new, %w : tensor<4xf32>
  return %y, %new : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @decode_pp0(
// CHECK-NOT: "cache"
// CHECK-SAME: -> (tensor<4xf32> {tg.role = #tg.role<logits>})
// CHECK-LABEL: func.func @decode_pp1(
// CHECK-SAME: tg.state = #tg.state<"cache"
// CHECK-SAME: -> (tensor<4xf32> {tg.role = #tg.role<logits>}, tensor<4xf32> {tg.updates = "cache"})

// What any rank can compute from inputs is not sent.
func.func @report(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>})
    -> (tensor<4xf32> {tg.output = "y"}) attributes {comm.program = #comm.program<@mesh>} {
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK-LABEL: func.func @report_pp0(
// CHECK-NEXT: math.exp
// CHECK-NEXT: return
// CHECK-LABEL: func.func @report_pp1(
// CHECK-NEXT: math.exp
// CHECK-NEXT: return

// Programs of some ranks, and functions that are no programs, are left alone.
// CHECK-LABEL: func.func @other() attributes {comm.entry = "other", comm.program = #comm.program<@mesh, pp = [0, 1]>} {
func.func @other() attributes {comm.entry = "other", comm.program = #comm.program<@mesh, pp = [0, 1]>} {
  return
}
