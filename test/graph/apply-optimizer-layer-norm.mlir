// The scale and the bias of a layer norm are norms; a bias that is added is none.
//
// RUN: braid-opt %s --tg-apply-optimizer="hyperparameters=weight_decay=0.5 decay-exclude=norms" | FileCheck %s --check-prefix=NORMS
// RUN: braid-opt %s --tg-apply-optimizer="hyperparameters=weight_decay=0.5 decay-exclude=biases" | FileCheck %s --check-prefix=BIASES

// In order: scale, bias of the norm, matrix, bias.
// NORMS-COUNT-2: weight_decay = 0.000000e+00 : f64}
// NORMS-COUNT-2: weight_decay = 5.000000e-01 : f64}
// BIASES-COUNT-3: weight_decay = 5.000000e-01 : f64}
// BIASES: weight_decay = 0.000000e+00 : f64}
func.func @train(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>}, %g: tensor<8xf32> {tg.param = #tg.param<"norm.weight", #tg.init<ones>>},
                 %h: tensor<8xf32> {tg.param = #tg.param<"norm.bias", #tg.init<zeros>>}, %w: tensor<8x8xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                 %b: tensor<8xf32> {tg.param = #tg.param<"b", #tg.init<zeros>>})
    -> (tensor<4x8xf32>, tensor<8xf32> {tg.grad_of = "norm.weight"}, tensor<8xf32> {tg.grad_of = "norm.bias"}, tensor<8x8xf32> {tg.grad_of = "w"},
        tensor<8xf32> {tg.grad_of = "b"}) {
  %0:3 = tg.layer_norm %x, %g, %h eps 1.0e-5 : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  %1 = tg.contract "sd,fd->sf" %0#0, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %2 = tg.broadcast %b dims [1] : tensor<8xf32> -> tensor<4x8xf32>
  %3 = arith.addf %1, %2 : tensor<4x8xf32>
  return %3, %g, %h, %w, %b : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>
}
