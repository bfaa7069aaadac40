// A gradient can be differentiated again: `*_grad` composites have no rule of
// their own and go through their decomposition.
//
// RUN: braid-interp %s --check-gradients

func.func @gelu_grad_tanh(
    %x: tensor<3x4xf64> {tg.input = "x"},
    %dy: tensor<3x4xf64> {tg.input = "dy"},
    %w: tensor<3x4xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = tg.gelu_grad tanh %x, %dy : tensor<3x4xf64>
  %z = arith.mulf %y, %w : tensor<3x4xf64>
  %loss = tg.reduce sum %z dims [0, 1] : tensor<3x4xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @gelu_grad_erf(
    %x: tensor<3x4xf64> {tg.input = "x"},
    %dy: tensor<3x4xf64> {tg.input = "dy"},
    %w: tensor<3x4xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = tg.gelu_grad erf %x, %dy : tensor<3x4xf64>
  %z = arith.mulf %y, %w : tensor<3x4xf64>
  %loss = tg.reduce sum %z dims [0, 1] : tensor<3x4xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @silu_grad(
    %x: tensor<3x4xf64> {tg.input = "x"},
    %dy: tensor<3x4xf64> {tg.input = "dy"},
    %w: tensor<3x4xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = tg.silu_grad %x, %dy : tensor<3x4xf64>
  %z = arith.mulf %y, %w : tensor<3x4xf64>
  %loss = tg.reduce sum %z dims [0, 1] : tensor<3x4xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @softmax_grad(
    %x: tensor<3x4xf64> {tg.input = "x"},
    %dy: tensor<3x4xf64> {tg.input = "dy"},
    %w: tensor<3x4xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = tg.softmax_grad %x, %dy : tensor<3x4xf64>
  %z = arith.mulf %y, %w : tensor<3x4xf64>
  %loss = tg.reduce sum %z dims [0, 1] : tensor<3x4xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @layer_norm_grad(
    %x: tensor<3x4xf64> {tg.input = "x"},
    %g: tensor<4xf64> {tg.input = "g"},
    %mean: tensor<3xf64> {tg.input = "mean"},
    %rstd: tensor<3xf64> {tg.input = "rstd"},
    %dy: tensor<3x4xf64> {tg.input = "dy"},
    %w: tensor<3x4xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %dx, %dg, %db = tg.layer_norm_grad %x, %g, %mean, %rstd, %dy : (tensor<3x4xf64>, tensor<4xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3x4xf64>) -> (tensor<3x4xf64>, tensor<4xf64>, tensor<4xf64>)
  %s = arith.mulf %dg, %db : tensor<4xf64>
  %b = tg.broadcast %s dims [1] : tensor<4xf64> -> tensor<3x4xf64>
  %y = arith.mulf %dx, %b : tensor<3x4xf64>
  %z = arith.mulf %y, %w : tensor<3x4xf64>
  %loss = tg.reduce sum %z dims [0, 1] : tensor<3x4xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @rms_norm_grad(
    %x: tensor<3x4xf64> {tg.input = "x"},
    %g: tensor<4xf64> {tg.input = "g"},
    %rrms: tensor<3xf64> {tg.input = "rrms"},
    %dy: tensor<3x4xf64> {tg.input = "dy"},
    %w: tensor<3x4xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %dx, %dg = tg.rms_norm_grad %x, %g, %rrms, %dy : (tensor<3x4xf64>, tensor<4xf64>, tensor<3xf64>, tensor<3x4xf64>) -> (tensor<3x4xf64>, tensor<4xf64>)
  %b = tg.broadcast %dg dims [1] : tensor<4xf64> -> tensor<3x4xf64>
  %y = arith.mulf %dx, %b : tensor<3x4xf64>
  %z = arith.mulf %y, %w : tensor<3x4xf64>
  %loss = tg.reduce sum %z dims [0, 1] : tensor<3x4xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @attention_grad(
    %q: tensor<1x3x4x2xf64> {tg.input = "q"},
    %k: tensor<1x3x2x2xf64> {tg.input = "k"},
    %v: tensor<1x3x2x2xf64> {tg.input = "v"},
    %o: tensor<1x3x4x2xf64> {tg.input = "o"},
    %lse: tensor<1x4x3xf64> {tg.input = "lse"},
    %do: tensor<1x3x4x2xf64> {tg.input = "do"},
    %w: tensor<1x3x4x2xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do scale 0.5 causal
      : (tensor<1x3x4x2xf64>, tensor<1x3x2x2xf64>, tensor<1x3x2x2xf64>, tensor<1x3x4x2xf64>, tensor<1x4x3xf64>, tensor<1x3x4x2xf64>) -> (tensor<1x3x4x2xf64>, tensor<1x3x2x2xf64>, tensor<1x3x2x2xf64>)
  %dkv = arith.mulf %dk, %dv : tensor<1x3x2x2xf64>
  %two = tg.concat %dkv, %dkv dim 2 : (tensor<1x3x2x2xf64>, tensor<1x3x2x2xf64>) -> tensor<1x3x4x2xf64>
  %y = arith.mulf %dq, %two : tensor<1x3x4x2xf64>
  %z = arith.mulf %y, %w : tensor<1x3x4x2xf64>
  %loss = tg.reduce sum %z dims [0, 1, 2, 3] : tensor<1x3x4x2xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @cross_entropy_grad(
    %x: tensor<2x3x5xf64> {tg.input = "x"},
    %lse: tensor<2x3xf64> {tg.input = "lse"},
    %d: tensor<f64> {tg.input = "d"},
    %w: tensor<2x3x5xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %targets = arith.constant dense<[[0, 4, -1], [2, -1, 2]]> : tensor<2x3xi32>
  %y = tg.cross_entropy_grad mean %x, %targets, %lse, %d ignore -1 : (tensor<2x3x5xf64>, tensor<2x3xi32>, tensor<2x3xf64>, tensor<f64>) -> tensor<2x3x5xf64>
  %z = arith.mulf %y, %w : tensor<2x3x5xf64>
  %loss = tg.reduce sum %z dims [0, 1, 2] : tensor<2x3x5xf64> -> tensor<f64>
  return %loss : tensor<f64>
}
