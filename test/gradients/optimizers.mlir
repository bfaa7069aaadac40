// What optimizers and norms decompose into computes what they do.
//
// RUN: braid-interp %s --compare --pipeline="func.func(tg-decompose,tg-verify-primitives)" --seeds=3
// RUN: sed 's/tensor<8xf32>/tensor<8xbf16>/g; s/tensor<f32>/tensor<bf16>/g' %s > %t.mlir
// RUN: braid-interp %t.mlir --compare --pipeline="func.func(tg-decompose,tg-verify-primitives)" --rtol=2e-2

func.func @adamw(%p: tensor<8xf32>, %g: tensor<8xf32>, %m: tensor<8xf32>, %s: tensor<8xf32>, %lr: tensor<f32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %step = arith.constant dense<3> : tensor<i32>
  %v = arith.mulf %s, %s : tensor<8xf32>
  %p1, %m1, %v1 = tg.update "adamw" %p, %g, %lr, %step states %m, %v {beta1 = 0.9, beta2 = 0.95, eps = 1.0e-8, weight_decay = 0.1}
      : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<i32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %p1, %m1, %v1 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// The first step, and decay as part of the gradient.
func.func @adam(%p: tensor<8xf32>, %g: tensor<8xf32>, %lr: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %step = arith.constant dense<1> : tensor<i64>
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %p1, %m1, %v1 = tg.update "adam" %p, %g, %lr, %step states %zero, %zero {beta1 = 0.9, beta2 = 0.999, eps = 1.0e-8, weight_decay = 0.1}
      : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<i64>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %p1, %m1, %v1 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

func.func @sgd(%p: tensor<8xf32>, %g: tensor<8xf32>, %m: tensor<8xf32>, %lr: tensor<f32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %p1, %m1 = tg.update "nesterov" %p, %g, %lr states %m {momentum = 0.9, weight_decay = 0.1}
      : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %p2, %m2 = tg.update "momentum" %p, %g, %lr states %m {momentum = 0.9, weight_decay = 0.0}
      : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %p3 = tg.update "sgd" %p, %g, %lr {weight_decay = 0.1} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %p1, %m1, %p2, %m2, %p3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

func.func @lion(%p: tensor<8xf32>, %g: tensor<8xf32>, %m: tensor<8xf32>, %lr: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %p1, %m1 = tg.update "lion" %p, %g, %lr states %m {beta1 = 0.9, beta2 = 0.99, weight_decay = 0.1}
      : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %p1, %m1 : tensor<8xf32>, tensor<8xf32>
}

func.func @norms(%a: tensor<8xf32>, %b: tensor<2x3xf32>) -> (tensor<f32>, tensor<f32>) {
  %targets = arith.constant dense<[[1, -1, 0], [2, 3, -1]]> : tensor<2x3xi64>
  %norm = tg.global_norm %a, %b : (tensor<8xf32>, tensor<2x3xf32>) -> tensor<f32>
  %count = tg.count %targets ignore -1 : tensor<2x3xi64> -> tensor<f32>
  return %norm, %count : tensor<f32>, tensor<f32>
}
