// Moments in bf16, for whatever optimizer a `tg.update` names.
//
// RUN: braid-opt %s --pass-pipeline="builtin.module(func.func(tg-state-precision{type=bf16}))" --split-input-file | FileCheck %s
// RUN: braid-opt %s --pass-pipeline="builtin.module(func.func(tg-state-precision))" --split-input-file | FileCheck %s --check-prefix=SAME
// RUN: not braid-opt %s --pass-pipeline="builtin.module(func.func(tg-state-precision{type=int8}))" --split-input-file 2>&1 | FileCheck %s --check-prefix=TYPE
// SAME-NOT: bf16
// TYPE: tg-state-precision: type must be f32 or bf16, found 'int8'

// The update reads in f32 what is stored in bf16; an optimizer that reads no step gets it.
// CHECK-LABEL: func.func @train
// CHECK-SAME: %[[P:[a-z0-9]+]]: tensor<8xf32> {tg.param
// CHECK-SAME: %[[M:[a-z0-9]+]]: tensor<8xbf16> {tg.state = #tg.state<"p.exp_avg"
// CHECK-SAME: %[[S:[a-z0-9]+]]: tensor<i32> {tg.input = "step"
// CHECK-SAME: -> (tensor<8xf32> {tg.updates = "p"}, tensor<8xbf16> {tg.updates = "p.exp_avg"})
// CHECK: arith.andi %[[S]]
// CHECK: %[[W:.*]] = tg.convert %[[M]] : tensor<8xbf16> -> tensor<8xf32>
// CHECK: %[[P1:.*]], %[[M1:.*]] = tg.update "lion" %[[P]], {{.*}} states %[[W]]
// CHECK: %[[R:.*]] = arith.select {{.*}} : tensor<8xi1>, tensor<8xbf16>
// CHECK-NEXT: return %[[P1]], %[[R]]
func.func @train(%p: tensor<8xf32> {tg.param = #tg.param<"p", #tg.init<ones>>},
                 %g: tensor<8xf32> {tg.input = "g"},
                 %lr: tensor<f32> {tg.input = "lr", tg.role = #tg.role<lr>},
                 %m: tensor<8xf32> {tg.state = #tg.state<"p.exp_avg", #tg.init<zeros>, of = "p", kind = moment>})
    -> (tensor<8xf32> {tg.updates = "p"}, tensor<8xf32> {tg.updates = "p.exp_avg"}) {
  %p1, %m1 = tg.update "lion" %p, %g, %lr states %m {beta1 = 0.9, beta2 = 0.99, weight_decay = 0.0}
      : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %p1, %m1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// An optimizer without state has nothing to store and needs no step.
// CHECK-LABEL: func.func @stateless
// CHECK-NOT: bf16
// CHECK-NOT: "step"
func.func @stateless(%p: tensor<8xf32> {tg.param = #tg.param<"p", #tg.init<ones>>},
                     %g: tensor<8xf32> {tg.input = "g"},
                     %lr: tensor<f32> {tg.input = "lr", tg.role = #tg.role<lr>}) -> (tensor<8xf32> {tg.updates = "p"}) {
  %p1 = tg.update "sgd" %p, %g, %lr {weight_decay = 0.0} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %p1 : tensor<8xf32>
}
