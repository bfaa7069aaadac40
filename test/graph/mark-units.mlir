// RUN: braid-opt %s --tg-mark-units | FileCheck %s
// RUN: braid-opt %s --tg-mark-units --tg-differentiate="function=blocks" | FileCheck %s --check-prefix=BACK
// RUN: braid-opt %s --tg-mark-units --tg-remove-hooks | FileCheck %s --check-prefix=REMOVED

// REMOVED-NOT: tg.hook

// Two residual blocks between a tied embedding and its head.  A block has one
// way in and one way out, its last residual sum included; the head's loss is no
// part of it.
// CHECK-LABEL: func.func @blocks
// CHECK: %[[E:.*]] = tg.gather
// CHECK-NEXT: %[[E_OUT:.*]] = tg.hook %[[E]] "embedding.exit" order 0
// CHECK-NEXT: %[[IN0:.*]] = tg.hook %[[E_OUT]] "h.0.enter" order 0
// CHECK-NEXT: %[[A0:.*]] = tg.contract "sd,de->se" %[[IN0]]
// CHECK-NEXT: %[[R0:.*]] = arith.addf %[[IN0]], %[[A0]]
// CHECK-NEXT: %[[M0:.*]] = tg.contract "sd,de->se" %[[R0]]
// CHECK-NEXT: %[[S0:.*]] = tg.silu %[[M0]]
// CHECK-NEXT: %[[OUT0:.*]] = arith.addf %[[R0]], %[[S0]]
// CHECK-NEXT: %[[H0:.*]] = tg.hook %[[OUT0]] "h.0.exit" order 0
// CHECK-NEXT: %[[IN1:.*]] = tg.hook %[[H0]] "h.1.enter" order 0
// CHECK-NEXT: %[[M1:.*]] = tg.contract "sd,de->se" %[[IN1]]
// CHECK-NEXT: %[[OUT1:.*]] = tg.hook %[[M1]] "h.1.exit" order 0
// CHECK-NEXT: %[[HEAD:.*]] = tg.hook %[[OUT1]] "embedding.enter" order 0
// CHECK-NEXT: %[[LOGITS:.*]] = tg.contract "sd,vd->sv" %[[HEAD]]
// CHECK-NEXT: tg.hook %[[LOGITS]] "embedding.exit" order 1

// Backward passes the points the other way.
// BACK-LABEL: func.func @blocks
// BACK: "embedding.exit.grad" order 1
// BACK: "h.1.exit.grad" order 0
// BACK: "h.1.enter.grad" order 0
// BACK: "h.0.exit.grad" order 0
// BACK: "h.0.enter.grad" order 0
// BACK: "embedding.exit.grad" order 0
func.func @blocks(%tokens: tensor<3xi32> {tg.input = "tokens"},
                  %wte: tensor<8x4xf32> {tg.param = #tg.param<"wte", #tg.init<zeros>, unit = "embedding">},
                  %w0: tensor<4x4xf32> {tg.param = #tg.param<"w0", #tg.init<zeros>, unit = "h.0">},
                  %w1: tensor<4x4xf32> {tg.param = #tg.param<"w1", #tg.init<zeros>, unit = "h.0">},
                  %w2: tensor<4x4xf32> {tg.param = #tg.param<"w2", #tg.init<zeros>, unit = "h.1">}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %e = tg.gather %wte, %tokens : (tensor<8x4xf32>, tensor<3xi32>) -> tensor<3x4xf32>
  %a0 = tg.contract "sd,de->se" %e, %w0 : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  %r0 = arith.addf %e, %a0 : tensor<3x4xf32>
  %m0 = tg.contract "sd,de->se" %r0, %w1 : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  %s0 = tg.silu %m0 : tensor<3x4xf32>
  %x1 = arith.addf %r0, %s0 : tensor<3x4xf32>
  %m1 = tg.contract "sd,de->se" %x1, %w2 : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  %logits = tg.contract "sd,vd->sv" %m1, %wte : (tensor<3x4xf32>, tensor<8x4xf32>) -> tensor<3x8xf32>
  %loss, %lse = tg.cross_entropy mean %logits, %tokens ignore -1 : (tensor<3x8xf32>, tensor<3xi32>) -> (tensor<f32>, tensor<3xf32>)
  return %loss : tensor<f32>
}

// A parameter without a unit marks nothing.
// CHECK-LABEL: func.func @no_units
// CHECK-NOT: tg.hook
func.func @no_units(%x: tensor<3xf32> {tg.input = "x"}, %w: tensor<3xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>}) -> tensor<3xf32> {
  %y = arith.mulf %x, %w : tensor<3xf32>
  return %y : tensor<3xf32>
}

// Two values enter, numbered in program order; integers are not marked.
// CHECK-LABEL: func.func @two
// CHECK-DAG: tg.hook %{{.*}} "u.enter" order 0
// CHECK-DAG: tg.hook %{{.*}} "u.enter" order 1
func.func @two(%x: tensor<3xf32> {tg.input = "x"}, %i: tensor<3xi32> {tg.input = "i"}, %z: tensor<3xf32> {tg.input = "z"},
               %w: tensor<3xf32> {tg.param = #tg.param<"w", #tg.init<zeros>, unit = "u">}) -> tensor<3xf32> {
  %a = math.fma %x, %w, %z : tensor<3xf32>
  return %a : tensor<3xf32>
}
