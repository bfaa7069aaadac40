// Gradients become updates, for each optimizer.
//
// RUN: braid-opt %s --tg-apply-optimizer=optimizer=sgd | FileCheck %s --check-prefix=SGD
// RUN: braid-opt %s --tg-apply-optimizer="optimizer=momentum hyperparameters=momentum=0.8" | FileCheck %s --check-prefix=MOMENTUM
// RUN: braid-opt %s --tg-apply-optimizer="optimizer=nesterov hyperparameters=weight_decay=0.1" | FileCheck %s --check-prefix=NESTEROV
// RUN: braid-opt %s --tg-apply-optimizer="optimizer=adam hyperparameters=beta2=0.95,eps=1e-6" | FileCheck %s --check-prefix=ADAM
// RUN: braid-opt %s --tg-apply-optimizer="hyperparameters=weight_decay=0.1" | FileCheck %s --check-prefix=ADAMW
// RUN: braid-opt %s --tg-apply-optimizer=optimizer=lion | FileCheck %s --check-prefix=LION

// SGD-LABEL: @train
// SGD-SAME: %[[LR:[a-z0-9]+]]: tensor<f32> {tg.input = "lr", tg.role = #tg.role<lr>})
// SGD-SAME: -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<2x3xf32> {tg.updates = "w"}, tensor<3xf64> {tg.updates = "b"})
// SGD: tg.update "sgd" %{{.*}}, %{{.*}}, %[[LR]] {weight_decay = 0.000000e+00 : f64} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
// SGD: %[[LR64:.*]] = tg.convert %[[LR]] : tensor<f32> -> tensor<f64>
// SGD: tg.update "sgd" %{{.*}}, %{{.*}}, %[[LR64]]

// MOMENTUM-LABEL: @train
// MOMENTUM-SAME: %[[M:[a-z0-9]+]]: tensor<2x3xf32> {tg.state = #tg.state<"w.momentum_buffer", #tg.init<zeros>, of = "w", kind = moment, transposed>}
// MOMENTUM-SAME: tensor<3xf64> {tg.state = #tg.state<"b.momentum_buffer", #tg.init<zeros>, of = "b", kind = moment>}
// MOMENTUM-SAME: tg.updates = "w"}, tensor<2x3xf32> {tg.updates = "w.momentum_buffer"}
// MOMENTUM: %[[W1:.*]], %[[M1:.*]] = tg.update "momentum" %{{.*}}, %{{.*}}, %{{.*}} states %[[M]] {momentum = 8.000000e-01 : f64, weight_decay = 0.000000e+00 : f64} :
// MOMENTUM: return %{{.*}}, %[[W1]], %[[M1]]

// NESTEROV: tg.update "nesterov" {{.*}} {momentum = 9.000000e-01 : f64, weight_decay = 1.000000e-01 : f64} :

// ADAM-LABEL: @train
// ADAM-SAME: tensor<f32> {tg.input = "lr", tg.role = #tg.role<lr>}, %{{[a-z0-9]+}}: tensor<i32> {tg.input = "step", tg.role = #tg.role<step>}
// ADAM-SAME: "w.exp_avg", #tg.init<zeros>, of = "w", kind = moment, transposed>}
// ADAM-SAME: "w.exp_avg_sq", #tg.init<zeros>, of = "w", kind = moment, transposed>}
// ADAM-SAME: {tg.updates = "w"}, tensor<2x3xf32> {tg.updates = "w.exp_avg"}, tensor<2x3xf32> {tg.updates = "w.exp_avg_sq"}
// ADAM: tg.update "adam" {{.*}} {beta1 = 9.000000e-01 : f64, beta2 = 0.9{{[45].*}}, eps = {{.*}} : f64, weight_decay = 0.000000e+00 : f64} : (tensor<2x3xf32>

// ADAMW: tg.update "adamw" {{.*}} {beta1 = 9.000000e-01 : f64, beta2 = 0.998{{9+}} : f64, eps = 1.000000e-08 : f64, weight_decay = 1.000000e-01 : f64} : (tensor<2x3xf32>
// ADAMW: tg.update "adamw" {{.*}} weight_decay = 1.000000e-01 : f64} : (tensor<3xf64>

// LION-LABEL: @train
// LION-SAME: tg.role = #tg.role<lr>}, %[[M:[a-z0-9]+]]: tensor<2x3xf32> {tg.state = #tg.state<"w.exp_avg", #tg.init<zeros>, of = "w", kind = moment, transposed>}
// LION: tg.update "lion" %{{.*}}, %{{.*}}, %{{.*}} states %[[M]] {beta1 = 9.000000e-01 : f64, beta2 = 0.98{{9+}} : f64, weight_decay = 0.000000e+00 : f64} : (tensor<2x3xf32>
func.func @train(%w: tensor<2x3xf32> {tg.param = #tg.param<"w", #tg.init<ones>, transposed>}, %b: tensor<3xf64> {tg.param = #tg.param<"b", #tg.init<ones>>},
                 %gw: tensor<2x3xf32> {tg.input = "gw"}, %gb: tensor<3xf64> {tg.input = "gb"}, %loss: tensor<f32> {tg.input = "loss"})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<2x3xf32> {tg.grad_of = "w"}, tensor<3xf64> {tg.grad_of = "b"}) {
  return %loss, %gw, %gb : tensor<f32>, tensor<2x3xf32>, tensor<3xf64>
}

// No gradient of a parameter, nothing to do; a gradient of an input stays.
// ADAMW-LABEL: @eval
// ADAMW-SAME: (%{{[a-z0-9]+}}: tensor<f32> {tg.grad, tg.input = "x"}) -> (tensor<f32> {tg.grad_of = "x"})
func.func @eval(%x: tensor<f32> {tg.input = "x", tg.grad}) -> (tensor<f32> {tg.grad_of = "x"}) {
  return %x : tensor<f32>
}

// A parameter that the loss does not depend on has no gradient in PyTorch: no state, no update, no decay.
// ADAMW-LABEL: @unread
// ADAMW-NOT: "u.exp_avg"
// ADAMW-SAME: -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<2xf32> {tg.updates = "w"}, tensor<2xf32> {tg.updates = "w.exp_avg"}, tensor<2xf32> {tg.updates = "w.exp_avg_sq"})
// ADAMW-COUNT-1: tg.update
// ADAMW-NOT: tg.update
func.func @unread(%w: tensor<2xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}, %u: tensor<3xf32> {tg.param = #tg.param<"u", #tg.init<ones>>},
                  %g: tensor<2xf32> {tg.input = "g"}, %loss: tensor<f32> {tg.input = "loss"})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<2xf32> {tg.grad_of = "w"}, tensor<3xf32> {tg.grad_of = "u"}) {
  %zeros = arith.constant dense<0.0> : tensor<3xf32>
  return %loss, %g, %zeros : tensor<f32>, tensor<2xf32>, tensor<3xf32>
}
