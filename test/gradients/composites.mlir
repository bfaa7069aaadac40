// Gradients of composites agree with central differences: through their own
// `*_grad` composites, and by differentiating the decomposition of the forward
// op.  The decomposition of every composite, forward and backward, agrees with
// the composite, in f64, f32 and bf16.
//
// RUN: braid-interp %s --check-gradients
// RUN: braid-interp %s --pipeline-before="func.func(tg-decompose)" --check-gradients
// RUN: braid-interp %s --pipeline-before=tg-differentiate --compare --pipeline="func.func(tg-decompose,tg-verify-primitives)" --arithmetic=f64
// RUN: sed s/f64/f32/g %s > %t.f32.mlir
// RUN: braid-interp %t.f32.mlir --pipeline-before=tg-differentiate --compare --pipeline="func.func(tg-decompose,tg-verify-primitives)"
// The log-sum-exp of bf16 is f32.
// RUN: sed -e s/f64/bf16/g -e '/tg.attention/,+1s/x3xbf16>)$/x3xf32>)/' -e '/convert %lse/s/bf16/f32/' %s > %t.bf16.mlir
// RUN: braid-interp %t.bf16.mlir --pipeline-before=tg-differentiate --compare --pipeline="func.func(tg-decompose,tg-verify-primitives)" --rtol=1e-2 --atol=2e-2

func.func @gelu_tanh(
    %x: tensor<3x4xf64> {tg.input = "x", tg.grad},
    %w: tensor<3x4xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = tg.gelu tanh %x : tensor<3x4xf64>
  %z = arith.mulf %y, %w : tensor<3x4xf64>
  %loss = tg.reduce sum %z dims [0, 1] : tensor<3x4xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @gelu_erf(
    %x: tensor<3x4xf64> {tg.input = "x", tg.grad},
    %w: tensor<3x4xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = tg.gelu erf %x : tensor<3x4xf64>
  %z = arith.mulf %y, %w : tensor<3x4xf64>
  %loss = tg.reduce sum %z dims [0, 1] : tensor<3x4xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @silu(
    %x: tensor<3x4xf64> {tg.input = "x", tg.grad},
    %w: tensor<3x4xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = tg.silu %x : tensor<3x4xf64>
  %z = arith.mulf %y, %w : tensor<3x4xf64>
  %loss = tg.reduce sum %z dims [0, 1] : tensor<3x4xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @relu(
    %x: tensor<3x4xf64> {tg.input = "x", tg.grad},
    %w: tensor<3x4xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = tg.relu %x : tensor<3x4xf64>
  %z = arith.mulf %y, %w : tensor<3x4xf64>
  %loss = tg.reduce sum %z dims [0, 1] : tensor<3x4xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @softmax(
    %x: tensor<3x4xf64> {tg.input = "x", tg.grad},
    %w: tensor<3x4xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = tg.softmax %x : tensor<3x4xf64>
  %z = arith.mulf %y, %w : tensor<3x4xf64>
  %loss = tg.reduce sum %z dims [0, 1] : tensor<3x4xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @dropout(
    %x: tensor<3x4xf64> {tg.input = "x", tg.grad},
    %w: tensor<3x4xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %key = arith.constant dense<[7, 0, 3, 0]> : tensor<4xi32>
  %y = tg.dropout %x, %key rate 0.4 stream 2 : (tensor<3x4xf64>, tensor<4xi32>) -> tensor<3x4xf64>
  %z = arith.mulf %y, %w : tensor<3x4xf64>
  %loss = tg.reduce sum %z dims [0, 1] : tensor<3x4xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @layer_norm(
    %x: tensor<3x4xf64> {tg.input = "x", tg.grad},
    %g: tensor<4xf64> {tg.input = "g", tg.grad},
    %b: tensor<4xf64> {tg.input = "b", tg.grad},
    %w: tensor<3x4xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y, %mean, %rstd = tg.layer_norm %x, %g, %b eps 1.0e-3 : (tensor<3x4xf64>, tensor<4xf64>, tensor<4xf64>) -> (tensor<3x4xf64>, tensor<3xf64>, tensor<3xf64>)
  %z = arith.mulf %y, %w : tensor<3x4xf64>
  %loss = tg.reduce sum %z dims [0, 1] : tensor<3x4xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @layer_norm_without_bias(
    %x: tensor<3x4xf64> {tg.input = "x", tg.grad},
    %g: tensor<4xf64> {tg.input = "g", tg.grad},
    %w: tensor<3x4xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y, %mean, %rstd = tg.layer_norm %x, %g eps 1.0e-3 : (tensor<3x4xf64>, tensor<4xf64>) -> (tensor<3x4xf64>, tensor<3xf64>, tensor<3xf64>)
  %z = arith.mulf %y, %w : tensor<3x4xf64>
  %loss = tg.reduce sum %z dims [0, 1] : tensor<3x4xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

// The statistics have gradients of their own.
func.func @layer_norm_statistics(
    %x: tensor<3x4xf64> {tg.input = "x", tg.grad},
    %g: tensor<4xf64> {tg.input = "g", tg.grad},
    %b: tensor<4xf64> {tg.input = "b", tg.grad},
    %w: tensor<3x4xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y, %mean, %rstd = tg.layer_norm %x, %g, %b eps 1.0e-3 : (tensor<3x4xf64>, tensor<4xf64>, tensor<4xf64>) -> (tensor<3x4xf64>, tensor<3xf64>, tensor<3xf64>)
  %m = tg.broadcast %mean dims [0] : tensor<3xf64> -> tensor<3x4xf64>
  %r = tg.broadcast %rstd dims [0] : tensor<3xf64> -> tensor<3x4xf64>
  %p = arith.mulf %y, %r : tensor<3x4xf64>
  %q = arith.addf %p, %m : tensor<3x4xf64>
  %z = arith.mulf %q, %w : tensor<3x4xf64>
  %loss = tg.reduce sum %z dims [0, 1] : tensor<3x4xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @rms_norm(
    %x: tensor<3x4xf64> {tg.input = "x", tg.grad},
    %g: tensor<4xf64> {tg.input = "g", tg.grad},
    %w: tensor<3x4xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y, %rrms = tg.rms_norm %x, %g eps 1.0e-3 : (tensor<3x4xf64>, tensor<4xf64>) -> (tensor<3x4xf64>, tensor<3xf64>)
  %z = arith.mulf %y, %w : tensor<3x4xf64>
  %loss = tg.reduce sum %z dims [0, 1] : tensor<3x4xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @rms_norm_offset(
    %x: tensor<3x4xf64> {tg.input = "x", tg.grad},
    %g: tensor<4xf64> {tg.input = "g", tg.grad},
    %w: tensor<3x4xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y, %rrms = tg.rms_norm %x, %g eps 1.0e-3 offset 1.0 : (tensor<3x4xf64>, tensor<4xf64>) -> (tensor<3x4xf64>, tensor<3xf64>)
  %z = arith.mulf %y, %w : tensor<3x4xf64>
  %loss = tg.reduce sum %z dims [0, 1] : tensor<3x4xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

// Only the statistic is used.
func.func @rms_norm_statistics(
    %x: tensor<3x4xf64> {tg.input = "x", tg.grad},
    %g: tensor<4xf64> {tg.input = "g", tg.grad},
    %w: tensor<3xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y, %rrms = tg.rms_norm %x, %g eps 1.0e-3 : (tensor<3x4xf64>, tensor<4xf64>) -> (tensor<3x4xf64>, tensor<3xf64>)
  %z = arith.mulf %rrms, %w : tensor<3xf64>
  %loss = tg.reduce sum %z dims [0] : tensor<3xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @attention(
    %q: tensor<2x3x2x4xf64> {tg.input = "q", tg.grad},
    %k: tensor<2x3x2x4xf64> {tg.input = "k", tg.grad},
    %v: tensor<2x3x2x4xf64> {tg.input = "v", tg.grad},
    %w: tensor<2x3x2x4xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %o, %lse = tg.attention %q, %k, %v scale 0.5
      : (tensor<2x3x2x4xf64>, tensor<2x3x2x4xf64>, tensor<2x3x2x4xf64>) -> (tensor<2x3x2x4xf64>, tensor<2x2x3xf64>)
  %z = arith.mulf %o, %w : tensor<2x3x2x4xf64>
  %loss = tg.reduce sum %z dims [0, 1, 2, 3] : tensor<2x3x2x4xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @attention_causal(
    %q: tensor<2x3x2x4xf64> {tg.input = "q", tg.grad},
    %k: tensor<2x3x2x4xf64> {tg.input = "k", tg.grad},
    %v: tensor<2x3x2x4xf64> {tg.input = "v", tg.grad},
    %w: tensor<2x3x2x4xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %o, %lse = tg.attention %q, %k, %v scale 0.5 causal
      : (tensor<2x3x2x4xf64>, tensor<2x3x2x4xf64>, tensor<2x3x2x4xf64>) -> (tensor<2x3x2x4xf64>, tensor<2x2x3xf64>)
  %z = arith.mulf %o, %w : tensor<2x3x2x4xf64>
  %loss = tg.reduce sum %z dims [0, 1, 2, 3] : tensor<2x3x2x4xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

// More keys than queries.
func.func @attention_cross(
    %q: tensor<2x3x2x4xf64> {tg.input = "q", tg.grad},
    %k: tensor<2x5x2x4xf64> {tg.input = "k", tg.grad},
    %v: tensor<2x5x2x4xf64> {tg.input = "v", tg.grad},
    %w: tensor<2x3x2x4xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %o, %lse = tg.attention %q, %k, %v scale 0.5
      : (tensor<2x3x2x4xf64>, tensor<2x5x2x4xf64>, tensor<2x5x2x4xf64>) -> (tensor<2x3x2x4xf64>, tensor<2x2x3xf64>)
  %z = arith.mulf %o, %w : tensor<2x3x2x4xf64>
  %loss = tg.reduce sum %z dims [0, 1, 2, 3] : tensor<2x3x2x4xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

// Two query heads share a key head.
func.func @attention_grouped(
    %q: tensor<2x3x4x4xf64> {tg.input = "q", tg.grad},
    %k: tensor<2x3x2x4xf64> {tg.input = "k", tg.grad},
    %v: tensor<2x3x2x4xf64> {tg.input = "v", tg.grad},
    %w: tensor<2x3x4x4xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %o, %lse = tg.attention %q, %k, %v scale 0.5 causal
      : (tensor<2x3x4x4xf64>, tensor<2x3x2x4xf64>, tensor<2x3x2x4xf64>) -> (tensor<2x3x4x4xf64>, tensor<2x4x3xf64>)
  %z = arith.mulf %o, %w : tensor<2x3x4x4xf64>
  %loss = tg.reduce sum %z dims [0, 1, 2, 3] : tensor<2x3x4x4xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

// All query heads share one key head.
func.func @attention_multi_query(
    %q: tensor<2x3x3x4xf64> {tg.input = "q", tg.grad},
    %k: tensor<2x3x1x4xf64> {tg.input = "k", tg.grad},
    %v: tensor<2x3x1x4xf64> {tg.input = "v", tg.grad},
    %w: tensor<2x3x3x4xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %o, %lse = tg.attention %q, %k, %v scale 0.5 causal
      : (tensor<2x3x3x4xf64>, tensor<2x3x1x4xf64>, tensor<2x3x1x4xf64>) -> (tensor<2x3x3x4xf64>, tensor<2x3x3xf64>)
  %z = arith.mulf %o, %w : tensor<2x3x3x4xf64>
  %loss = tg.reduce sum %z dims [0, 1, 2, 3] : tensor<2x3x3x4xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

// The log-sum-exp has a gradient of its own.
func.func @attention_lse(
    %q: tensor<2x3x4x4xf64> {tg.input = "q", tg.grad},
    %k: tensor<2x3x2x4xf64> {tg.input = "k", tg.grad},
    %v: tensor<2x3x2x4xf64> {tg.input = "v", tg.grad},
    %w: tensor<2x3x4x4xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %o, %lse = tg.attention %q, %k, %v scale 0.5 causal
      : (tensor<2x3x4x4xf64>, tensor<2x3x2x4xf64>, tensor<2x3x2x4xf64>) -> (tensor<2x3x4x4xf64>, tensor<2x4x3xf64>)
  %c = tg.convert %lse : tensor<2x4x3xf64> -> tensor<2x4x3xf64>
  %l = tg.transpose %c [0, 2, 1] : tensor<2x4x3xf64> -> tensor<2x3x4xf64>
  %lb = tg.broadcast %l dims [0, 1, 2] : tensor<2x3x4xf64> -> tensor<2x3x4x4xf64>
  %y = arith.mulf %o, %lb : tensor<2x3x4x4xf64>
  %z = arith.mulf %y, %w : tensor<2x3x4x4xf64>
  %loss = tg.reduce sum %z dims [0, 1, 2, 3] : tensor<2x3x4x4xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @rope(
    %x: tensor<2x3x2x6xf64> {tg.input = "x", tg.grad},
    %w: tensor<2x3x2x6xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = tg.rope %x theta 100.0 : tensor<2x3x2x6xf64>
  %z = arith.mulf %y, %w : tensor<2x3x2x6xf64>
  %loss = tg.reduce sum %z dims [0, 1, 2, 3] : tensor<2x3x2x6xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @rope_part_llama3(
    %x: tensor<2x3x2x10xf64> {tg.input = "x", tg.grad},
    %w: tensor<2x3x2x10xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = tg.rope %x theta 100.0 dims 6 llama3 8.0 low 0.2 high 2.0 positions 16 : tensor<2x3x2x10xf64>
  %z = arith.mulf %y, %w : tensor<2x3x2x10xf64>
  %loss = tg.reduce sum %z dims [0, 1, 2, 3] : tensor<2x3x2x10xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @rope_inverse(
    %x: tensor<2x3x2x6xf64> {tg.input = "x", tg.grad},
    %w: tensor<2x3x2x6xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = tg.rope %x theta 100.0 inverse : tensor<2x3x2x6xf64>
  %z = arith.mulf %y, %w : tensor<2x3x2x6xf64>
  %loss = tg.reduce sum %z dims [0, 1, 2, 3] : tensor<2x3x2x6xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

// Two targets are ignored.
func.func @cross_entropy_mean(
    %x: tensor<2x3x5xf64> {tg.input = "x", tg.grad},
    %w: tensor<f64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %targets = arith.constant dense<[[0, 4, -1], [2, -1, 2]]> : tensor<2x3xi32>
  %y, %lse = tg.cross_entropy mean %x, %targets ignore -1 : (tensor<2x3x5xf64>, tensor<2x3xi32>) -> (tensor<f64>, tensor<2x3xf64>)
  %z = arith.mulf %y, %w : tensor<f64>
  return %z : tensor<f64>
}

func.func @cross_entropy_sum(
    %x: tensor<2x3x5xf64> {tg.input = "x", tg.grad},
    %w: tensor<f64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %targets = arith.constant dense<[[0, 4, -1], [2, -1, 2]]> : tensor<2x3xi32>
  %y, %lse = tg.cross_entropy sum %x, %targets ignore -1 : (tensor<2x3x5xf64>, tensor<2x3xi32>) -> (tensor<f64>, tensor<2x3xf64>)
  %z = arith.mulf %y, %w : tensor<f64>
  return %z : tensor<f64>
}

// The z-loss of a model reads the log-sum-exp.
func.func @cross_entropy_lse(
    %x: tensor<2x3x5xf64> {tg.input = "x", tg.grad},
    %w: tensor<2x3xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %targets = arith.constant dense<[[0, 4, -1], [2, -1, 2]]> : tensor<2x3xi32>
  %y, %lse = tg.cross_entropy mean %x, %targets ignore -1 : (tensor<2x3x5xf64>, tensor<2x3xi32>) -> (tensor<f64>, tensor<2x3xf64>)
  %b = tg.broadcast %y dims [] : tensor<f64> -> tensor<2x3xf64>
  %s = arith.addf %b, %lse : tensor<2x3xf64>
  %z = arith.mulf %s, %w : tensor<2x3xf64>
  %loss = tg.reduce sum %z dims [0, 1] : tensor<2x3xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

// Experts choose by the numbers, and steps of the differences change no choice.
func.func @top_k(
    %x: tensor<2x3x5xf64> {tg.input = "x", tg.grad},
    %w: tensor<2x3x2xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y, %i = tg.top_k %x k 2 : tensor<2x3x5xf64> -> (tensor<2x3x2xf64>, tensor<2x3x2xi32>)
  %z = arith.mulf %y, %w : tensor<2x3x2xf64>
  %loss = tg.reduce sum %z dims [0, 1, 2] : tensor<2x3x2xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

// Some choices have no slot, and some slots no choice.
func.func @dispatch(
    %p: tensor<2x4x3xf64> {tg.input = "p"},
    %x: tensor<2x4x2xf64> {tg.input = "x", tg.grad},
    %w: tensor<3x2x2x2xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %v, %i = tg.top_k %p k 2 : tensor<2x4x3xf64> -> (tensor<2x4x2xf64>, tensor<2x4x2xi32>)
  %s, %c = tg.expert_slots %i capacity 2 of 3 : tensor<2x4x2xi32> -> (tensor<2x4x2xi32>, tensor<3x2x2xi32>)
  %y = tg.dispatch %x, %s, %c : (tensor<2x4x2xf64>, tensor<2x4x2xi32>, tensor<3x2x2xi32>) -> tensor<3x2x2x2xf64>
  %z = arith.mulf %y, %w : tensor<3x2x2x2xf64>
  %loss = tg.reduce sum %z dims [0, 1, 2, 3] : tensor<3x2x2x2xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @collect(
    %p: tensor<2x4x3xf64> {tg.input = "p"},
    %y: tensor<3x2x3x2xf64> {tg.input = "y", tg.grad},
    %w: tensor<2x4x2x2xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %v, %i = tg.top_k %p k 2 : tensor<2x4x3xf64> -> (tensor<2x4x2xf64>, tensor<2x4x2xi32>)
  %s, %c = tg.expert_slots %i capacity 3 of 3 : tensor<2x4x2xi32> -> (tensor<2x4x2xi32>, tensor<3x2x3xi32>)
  %x = tg.collect %y, %s, %c : (tensor<3x2x3x2xf64>, tensor<2x4x2xi32>, tensor<3x2x3xi32>) -> tensor<2x4x2x2xf64>
  %z = arith.mulf %x, %w : tensor<2x4x2x2xf64>
  %loss = tg.reduce sum %z dims [0, 1, 2, 3] : tensor<2x4x2x2xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @load_balance(
    %p: tensor<2x4x3xf64> {tg.input = "p", tg.grad},
    %q: tensor<2x4x3xf64> {tg.input = "q", tg.grad})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %v, %i = tg.top_k %p k 2 : tensor<2x4x3xf64> -> (tensor<2x4x2xf64>, tensor<2x4x2xi32>)
  %u, %j = tg.top_k %q k 2 : tensor<2x4x3xf64> -> (tensor<2x4x2xf64>, tensor<2x4x2xi32>)
  %loss = tg.load_balance %p, %q choices %i, %j
      : (tensor<2x4x3xf64>, tensor<2x4x3xf64>, tensor<2x4x2xi32>, tensor<2x4x2xi32>) -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @router_z(
    %x: tensor<2x4x3xf64> {tg.input = "x", tg.grad},
    %y: tensor<2x4x3xf64> {tg.input = "y", tg.grad})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %loss = tg.router_z %x, %y : (tensor<2x4x3xf64>, tensor<2x4x3xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// A whole layer: a router, two of three experts for each token, and their sum.
func.func @experts(
    %x: tensor<2x4x3xf64> {tg.input = "x", tg.grad},
    %r: tensor<3x3xf64> {tg.input = "r", tg.grad},
    %up: tensor<3x5x3xf64> {tg.input = "up", tg.grad},
    %down: tensor<3x3x5xf64> {tg.input = "down", tg.grad},
    %w: tensor<2x4x3xf64> {tg.input = "w"})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %logits = tg.contract "bsd,ed->bse" %x, %r : (tensor<2x4x3xf64>, tensor<3x3xf64>) -> tensor<2x4x3xf64>
  %p = tg.softmax %logits : tensor<2x4x3xf64>
  %v, %i = tg.top_k %p k 2 : tensor<2x4x3xf64> -> (tensor<2x4x2xf64>, tensor<2x4x2xi32>)
  %s, %c = tg.expert_slots %i capacity 3 of 3 : tensor<2x4x2xi32> -> (tensor<2x4x2xi32>, tensor<3x2x3xi32>)
  %in = tg.dispatch %x, %s, %c : (tensor<2x4x3xf64>, tensor<2x4x2xi32>, tensor<3x2x3xi32>) -> tensor<3x2x3x3xf64>
  %h = tg.contract "ebcd,efd->ebcf" %in, %up : (tensor<3x2x3x3xf64>, tensor<3x5x3xf64>) -> tensor<3x2x3x5xf64>
  %a = tg.silu %h : tensor<3x2x3x5xf64>
  %out = tg.contract "ebcf,edf->ebcd" %a, %down : (tensor<3x2x3x5xf64>, tensor<3x3x5xf64>) -> tensor<3x2x3x3xf64>
  %each = tg.collect %out, %s, %c : (tensor<3x2x3x3xf64>, tensor<2x4x2xi32>, tensor<3x2x3xi32>) -> tensor<2x4x2x3xf64>
  %y = tg.contract "bskd,bsk->bsd" %each, %v : (tensor<2x4x2x3xf64>, tensor<2x4x2xf64>) -> tensor<2x4x3xf64>
  %z = arith.mulf %y, %w : tensor<2x4x3xf64>
  %loss = tg.reduce sum %z dims [0, 1, 2] : tensor<2x4x3xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

// Of tokens that are there.
func.func @router_losses_present(
    %p: tensor<2x4x3xf64> {tg.input = "p", tg.grad})
    -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %present = arith.constant dense<[[0, 0, 1, -1], [-1, -1, -1, -1]]> : tensor<2x4xi32>
  %v, %i = tg.top_k %p k 2 : tensor<2x4x3xf64> -> (tensor<2x4x2xf64>, tensor<2x4x2xi32>)
  %b = tg.load_balance %p choices %i present %present : (tensor<2x4x3xf64>, tensor<2x4x2xi32>, tensor<2x4xi32>) -> tensor<f64>
  %z = tg.router_z %p present %present : (tensor<2x4x3xf64>, tensor<2x4xi32>) -> tensor<f64>
  %loss = arith.addf %b, %z : tensor<f64>
  return %loss : tensor<f64>
}
