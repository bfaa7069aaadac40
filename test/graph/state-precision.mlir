// Moments in bf16 and in 8 bits, for whatever optimizer a `tg.update` names.
//
// RUN: braid-opt %s --pass-pipeline="builtin.module(func.func(tg-state-precision{type=bf16}))" --split-input-file | FileCheck %s
// RUN: braid-opt %s --pass-pipeline="builtin.module(func.func(tg-state-precision))" --split-input-file | FileCheck %s --check-prefix=SAME
// RUN: not braid-opt %s --pass-pipeline="builtin.module(func.func(tg-state-precision{type=int4}))" --split-input-file 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not braid-opt %s --pass-pipeline="builtin.module(func.func(tg-state-precision{type=int8 ranks=0}))" --split-input-file 2>&1 | FileCheck %s --check-prefix=RANKS
// RUN: braid-opt %s --pass-pipeline="builtin.module(func.func(tg-state-precision{type=int8}))" --split-input-file 2>&1 | FileCheck %s --check-prefix=INT8
// RUN: braid-opt %s --pass-pipeline="builtin.module(func.func(tg-state-precision{type=int8 ranks=4}))" --split-input-file 2>&1 | FileCheck %s --check-prefix=FOUR
// RUN: braid-opt %s --pass-pipeline="builtin.module(func.func(tg-state-precision{type=int8 ranks=5}))" --split-input-file 2>&1 | FileCheck %s --check-prefix=FIVE
// SAME-NOT: {{bf16|i8}}
// TYPE: option 'type' of pass: 'int4' is not valid, expected f32, bf16 or int8
// RANKS: error: option 'ranks' of pass: '0' is not valid, expected an integer of at least 1

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
// Rows of 8 are too short for blocks.
// INT8: remark: 1 of 1 moments are stored in bf16, such as "p.exp_avg" of type 'tensor<8xf32>': no block of 32 to 128 divides its rows, or a rank's part of them, and its part on each of 1 ranks
// INT8: tensor<8xbf16> {tg.state = #tg.state<"p.exp_avg"
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

// -----

// Codes and a scale for each block; of 4 ranks each has 96 numbers, which blocks of 96 divide,
// and nothing does on 5 ranks.
// CHECK-LABEL: func.func @blocks
// CHECK-SAME: tensor<2x192xbf16> {tg.state
// INT8-LABEL: func.func @blocks
// INT8-SAME: %[[P:[a-z0-9]+]]: tensor<2x192xf32> {tg.param
// INT8-SAME: %[[M:[a-z0-9]+]]: tensor<2x192xi8> {tg.state = #tg.state<"p.exp_avg", #tg.init<zeros>, of = "p", kind = moment>}
// INT8-SAME: %[[S:[a-z0-9]+]]: tensor<2x2xf32> {tg.state = #tg.state<"p.exp_avg.scale", #tg.init<zeros>, of = "p", kind = moment>}
// INT8-SAME: -> (tensor<2x192xf32> {tg.updates = "p"}, tensor<2x192xi8> {tg.updates = "p.exp_avg"}, tensor<2x2xf32> {tg.updates = "p.exp_avg.scale"})
// INT8: %[[W:.*]] = tg.dequantize %[[M]], %[[S]] : (tensor<2x192xi8>, tensor<2x2xf32>) -> tensor<2x192xf32>
// INT8: %[[P1:.*]], %[[M1:.*]] = tg.update "lion" %[[P]], {{.*}} states %[[W]]
// INT8: %[[C:.*]], %[[S1:.*]] = tg.quantize %[[M1]] at %{{.*}} block 96 : (tensor<2x192xf32>, tensor<2x192xf32>) -> (tensor<2x192xi8>, tensor<2x2xf32>)
// INT8-NEXT: return %[[P1]], %[[C]], %[[S1]]
// FOUR-LABEL: func.func @blocks
// FOUR: block 96 : (tensor<2x192xf32>, tensor<2x192xf32>) ->
// FIVE: remark: 1 of 1 moments are stored in bf16, such as "p.exp_avg" of type 'tensor<2x192xf32>': no block of 32 to 128 divides its rows, or a rank's part of them, and its part on each of 5 ranks
func.func @blocks(%p: tensor<2x192xf32> {tg.param = #tg.param<"p", #tg.init<ones>>},
                  %g: tensor<2x192xf32> {tg.input = "g"},
                  %lr: tensor<f32> {tg.input = "lr", tg.role = #tg.role<lr>},
                  %m: tensor<2x192xf32> {tg.state = #tg.state<"p.exp_avg", #tg.init<zeros>, of = "p", kind = moment>})
    -> (tensor<2x192xf32> {tg.updates = "p"}, tensor<2x192xf32> {tg.updates = "p.exp_avg"}) {
  %p1, %m1 = tg.update "lion" %p, %g, %lr states %m {beta1 = 0.9, beta2 = 0.99, weight_decay = 0.0}
      : (tensor<2x192xf32>, tensor<2x192xf32>, tensor<f32>, tensor<2x192xf32>) -> (tensor<2x192xf32>, tensor<2x192xf32>)
  return %p1, %m1 : tensor<2x192xf32>, tensor<2x192xf32>
}
