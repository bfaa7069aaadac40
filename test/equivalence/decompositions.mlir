// Every composite, as the interpreter computes it in plain loops, equals its
// decomposition into primitives.
//
// RUN: braid-interp %s --compare --pipeline=tg-decompose,tg-verify-primitives --arithmetic=f64 --rtol=1e-12 --seeds=2 --ignored-share=0.3

func.func @gelu_tanh(%x: tensor<3x5xf64>) -> tensor<3x5xf64> {
  %y = tg.gelu tanh %x : tensor<3x5xf64>
  return %y : tensor<3x5xf64>
}

func.func @gelu_erf(%x: tensor<3x5xf64>) -> tensor<3x5xf64> {
  %y = tg.gelu erf %x : tensor<3x5xf64>
  return %y : tensor<3x5xf64>
}

func.func @gelu_tanh_grad(%x: tensor<3x5xf64>, %dy: tensor<3x5xf64>) -> tensor<3x5xf64> {
  %dx = tg.gelu_grad tanh %x, %dy : tensor<3x5xf64>
  return %dx : tensor<3x5xf64>
}

func.func @gelu_erf_grad(%x: tensor<3x5xf64>, %dy: tensor<3x5xf64>) -> tensor<3x5xf64> {
  %dx = tg.gelu_grad erf %x, %dy : tensor<3x5xf64>
  return %dx : tensor<3x5xf64>
}

func.func @silu(%x: tensor<3x5xf64>) -> tensor<3x5xf64> {
  %y = tg.silu %x : tensor<3x5xf64>
  return %y : tensor<3x5xf64>
}

func.func @silu_grad(%x: tensor<3x5xf64>, %dy: tensor<3x5xf64>) -> tensor<3x5xf64> {
  %dx = tg.silu_grad %x, %dy : tensor<3x5xf64>
  return %dx : tensor<3x5xf64>
}

func.func @relu(%x: tensor<3x5xf64>) -> tensor<3x5xf64> {
  %y = tg.relu %x : tensor<3x5xf64>
  return %y : tensor<3x5xf64>
}

func.func @dropout(%x: tensor<7x9xf64>, %key: tensor<4xi32> {tg.input = "key", tg.role = #tg.role<key>}) -> tensor<7x9xf64> {
  %y = tg.dropout %x, %key rate 0.3 stream 5 : (tensor<7x9xf64>, tensor<4xi32>) -> tensor<7x9xf64>
  return %y : tensor<7x9xf64>
}

func.func @softmax(%x: tensor<2x3x5xf64>) -> tensor<2x3x5xf64> {
  %y = tg.softmax %x : tensor<2x3x5xf64>
  return %y : tensor<2x3x5xf64>
}

func.func @softmax_grad(%y: tensor<2x3x5xf64>, %dy: tensor<2x3x5xf64>) -> tensor<2x3x5xf64> {
  %dx = tg.softmax_grad %y, %dy : tensor<2x3x5xf64>
  return %dx : tensor<2x3x5xf64>
}

func.func @layer_norm(%x: tensor<2x3x5xf64>, %weight: tensor<5xf64>, %bias: tensor<5xf64>)
    -> (tensor<2x3x5xf64>, tensor<2x3xf64>, tensor<2x3xf64>) {
  %y, %mean, %rstd = tg.layer_norm %x, %weight, %bias eps 1.0e-5
      : (tensor<2x3x5xf64>, tensor<5xf64>, tensor<5xf64>) -> (tensor<2x3x5xf64>, tensor<2x3xf64>, tensor<2x3xf64>)
  return %y, %mean, %rstd : tensor<2x3x5xf64>, tensor<2x3xf64>, tensor<2x3xf64>
}

func.func @layer_norm_without_bias(%x: tensor<3x5xf64>, %weight: tensor<5xf64>) -> tensor<3x5xf64> {
  %y, %mean, %rstd = tg.layer_norm %x, %weight eps 1.0e-5
      : (tensor<3x5xf64>, tensor<5xf64>) -> (tensor<3x5xf64>, tensor<3xf64>, tensor<3xf64>)
  return %y : tensor<3x5xf64>
}

func.func @layer_norm_grad(%x: tensor<2x3x5xf64>, %weight: tensor<5xf64>, %mean: tensor<2x3xf64>, %rstd: tensor<2x3xf64>,
                           %dy: tensor<2x3x5xf64>) -> (tensor<2x3x5xf64>, tensor<5xf64>, tensor<5xf64>) {
  %dx, %dw, %db = tg.layer_norm_grad %x, %weight, %mean, %rstd, %dy
      : (tensor<2x3x5xf64>, tensor<5xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3x5xf64>)
      -> (tensor<2x3x5xf64>, tensor<5xf64>, tensor<5xf64>)
  return %dx, %dw, %db : tensor<2x3x5xf64>, tensor<5xf64>, tensor<5xf64>
}

func.func @rms_norm(%x: tensor<2x3x5xf64>, %weight: tensor<5xf64>) -> (tensor<2x3x5xf64>, tensor<2x3xf64>) {
  %y, %rrms = tg.rms_norm %x, %weight eps 1.0e-5
      : (tensor<2x3x5xf64>, tensor<5xf64>) -> (tensor<2x3x5xf64>, tensor<2x3xf64>)
  return %y, %rrms : tensor<2x3x5xf64>, tensor<2x3xf64>
}

func.func @rms_norm_grad(%x: tensor<2x3x5xf64>, %weight: tensor<5xf64>, %rrms: tensor<2x3xf64>, %dy: tensor<2x3x5xf64>)
    -> (tensor<2x3x5xf64>, tensor<5xf64>) {
  %dx, %dw = tg.rms_norm_grad %x, %weight, %rrms, %dy
      : (tensor<2x3x5xf64>, tensor<5xf64>, tensor<2x3xf64>, tensor<2x3x5xf64>) -> (tensor<2x3x5xf64>, tensor<5xf64>)
  return %dx, %dw : tensor<2x3x5xf64>, tensor<5xf64>
}

func.func @attention(%q: tensor<2x5x2x4xf64>, %k: tensor<2x5x2x4xf64>, %v: tensor<2x5x2x4xf64>)
    -> (tensor<2x5x2x4xf64>, tensor<2x2x5xf64>) {
  %o, %lse = tg.attention %q, %k, %v scale 0.5
      : (tensor<2x5x2x4xf64>, tensor<2x5x2x4xf64>, tensor<2x5x2x4xf64>) -> (tensor<2x5x2x4xf64>, tensor<2x2x5xf64>)
  return %o, %lse : tensor<2x5x2x4xf64>, tensor<2x2x5xf64>
}

func.func @attention_causal_grouped(%q: tensor<2x5x6x4xf64>, %k: tensor<2x5x2x4xf64>, %v: tensor<2x5x2x4xf64>)
    -> (tensor<2x5x6x4xf64>, tensor<2x6x5xf64>) {
  %o, %lse = tg.attention %q, %k, %v scale 0.3 causal
      : (tensor<2x5x6x4xf64>, tensor<2x5x2x4xf64>, tensor<2x5x2x4xf64>) -> (tensor<2x5x6x4xf64>, tensor<2x6x5xf64>)
  return %o, %lse : tensor<2x5x6x4xf64>, tensor<2x6x5xf64>
}

func.func @dropout_attention(%q: tensor<2x5x6x4xf64>, %k: tensor<2x5x2x4xf64>, %v: tensor<2x5x2x4xf64>,
                             %random: tensor<4xi32>, %documents: tensor<2x5xi32>) -> (tensor<2x5x6x4xf64>, tensor<2x5x6x4xf64>) {
  %o = tg.dropout_attention %q, %k, %v, %random scale 0.3 causal window 3 softcap 2.0 rate 0.4 stream 3
      : (tensor<2x5x6x4xf64>, tensor<2x5x2x4xf64>, tensor<2x5x2x4xf64>, tensor<4xi32>) -> tensor<2x5x6x4xf64>
  %p = tg.dropout_attention %q, %k, %v, %random, %documents scale 0.3 rate 0.4 stream 4
      : (tensor<2x5x6x4xf64>, tensor<2x5x2x4xf64>, tensor<2x5x2x4xf64>, tensor<4xi32>, tensor<2x5xi32>) -> tensor<2x5x6x4xf64>
  return %o, %p : tensor<2x5x6x4xf64>, tensor<2x5x6x4xf64>
}

// The gradient is taken at a result of attention: its log-sum-exp must be true.
func.func @attention_grad(%q: tensor<2x5x2x4xf64>, %k: tensor<2x5x2x4xf64>, %v: tensor<2x5x2x4xf64>, %do: tensor<2x5x2x4xf64>)
    -> (tensor<2x5x2x4xf64>, tensor<2x5x2x4xf64>, tensor<2x5x2x4xf64>) {
  %o, %lse = tg.attention %q, %k, %v scale 0.5
      : (tensor<2x5x2x4xf64>, tensor<2x5x2x4xf64>, tensor<2x5x2x4xf64>) -> (tensor<2x5x2x4xf64>, tensor<2x2x5xf64>)
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do scale 0.5
      : (tensor<2x5x2x4xf64>, tensor<2x5x2x4xf64>, tensor<2x5x2x4xf64>, tensor<2x5x2x4xf64>, tensor<2x2x5xf64>, tensor<2x5x2x4xf64>)
      -> (tensor<2x5x2x4xf64>, tensor<2x5x2x4xf64>, tensor<2x5x2x4xf64>)
  return %dq, %dk, %dv : tensor<2x5x2x4xf64>, tensor<2x5x2x4xf64>, tensor<2x5x2x4xf64>
}

func.func @attention_grad_causal_grouped(%q: tensor<2x5x6x4xf64>, %k: tensor<2x5x2x4xf64>, %v: tensor<2x5x2x4xf64>,
                                         %do: tensor<2x5x6x4xf64>)
    -> (tensor<2x5x6x4xf64>, tensor<2x5x2x4xf64>, tensor<2x5x2x4xf64>) {
  %o, %lse = tg.attention %q, %k, %v scale 0.3 causal
      : (tensor<2x5x6x4xf64>, tensor<2x5x2x4xf64>, tensor<2x5x2x4xf64>) -> (tensor<2x5x6x4xf64>, tensor<2x6x5xf64>)
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do scale 0.3 causal
      : (tensor<2x5x6x4xf64>, tensor<2x5x2x4xf64>, tensor<2x5x2x4xf64>, tensor<2x5x6x4xf64>, tensor<2x6x5xf64>, tensor<2x5x6x4xf64>)
      -> (tensor<2x5x6x4xf64>, tensor<2x5x2x4xf64>, tensor<2x5x2x4xf64>)
  return %dq, %dk, %dv : tensor<2x5x6x4xf64>, tensor<2x5x2x4xf64>, tensor<2x5x2x4xf64>
}

func.func @reorder(%x: tensor<2x6x3xf64>) -> tensor<2x6x3xf64> {
  %y = tg.reorder %x dim 1 order [1, 2, 0] : tensor<2x6x3xf64>
  return %y : tensor<2x6x3xf64>
}

func.func @rope(%x: tensor<2x5x3x6xf64>) -> tensor<2x5x3x6xf64> {
  %y = tg.rope %x theta 1.0e4 : tensor<2x5x3x6xf64>
  return %y : tensor<2x5x3x6xf64>
}

func.func @rms_norm_offset(%x: tensor<2x3x5xf64>, %weight: tensor<5xf64>, %rrms: tensor<2x3xf64>, %dy: tensor<2x3x5xf64>)
    -> (tensor<2x3x5xf64>, tensor<2x3x5xf64>, tensor<5xf64>) {
  %y, %r = tg.rms_norm %x, %weight eps 1.0e-5 offset 1.0
      : (tensor<2x3x5xf64>, tensor<5xf64>) -> (tensor<2x3x5xf64>, tensor<2x3xf64>)
  %dx, %dw = tg.rms_norm_grad %x, %weight, %rrms, %dy offset 1.0
      : (tensor<2x3x5xf64>, tensor<5xf64>, tensor<2x3xf64>, tensor<2x3x5xf64>) -> (tensor<2x3x5xf64>, tensor<5xf64>)
  return %y, %dx, %dw : tensor<2x3x5xf64>, tensor<2x3x5xf64>, tensor<5xf64>
}

func.func @rope_part(%x: tensor<2x5x3x10xf64>) -> tensor<2x5x3x10xf64> {
  %y = tg.rope %x theta 1.0e4 dims 6 : tensor<2x5x3x10xf64>
  return %y : tensor<2x5x3x10xf64>
}

func.func @rope_linear(%x: tensor<2x5x3x6xf64>) -> tensor<2x5x3x6xf64> {
  %y = tg.rope %x theta 1.0e2 linear 3.0 : tensor<2x5x3x6xf64>
  return %y : tensor<2x5x3x6xf64>
}

// Frequencies that stay, that are in between, and that are divided.
func.func @rope_llama3(%x: tensor<1x9x2x16xf64>) -> tensor<1x9x2x16xf64> {
  %y = tg.rope %x theta 1.0e4 llama3 8.0 low 0.2 high 2.0 positions 16 : tensor<1x9x2x16xf64>
  return %y : tensor<1x9x2x16xf64>
}

func.func @rope_inverse(%x: tensor<2x5x3x6xf64>) -> tensor<2x5x3x6xf64> {
  %y = tg.rope %x theta 1.0e4 inverse : tensor<2x5x3x6xf64>
  return %y : tensor<2x5x3x6xf64>
}

func.func @cross_entropy_mean(%logits: tensor<2x4x9xf64>, %targets: tensor<2x4xi32>) -> (tensor<f64>, tensor<2x4xf64>) {
  %loss, %lse = tg.cross_entropy mean %logits, %targets ignore -100
      : (tensor<2x4x9xf64>, tensor<2x4xi32>) -> (tensor<f64>, tensor<2x4xf64>)
  return %loss, %lse : tensor<f64>, tensor<2x4xf64>
}

func.func @cross_entropy_sum(%logits: tensor<2x4x9xf64>, %targets: tensor<2x4xi64>) -> (tensor<f64>, tensor<2x4xf64>) {
  %loss, %lse = tg.cross_entropy sum %logits, %targets ignore -100
      : (tensor<2x4x9xf64>, tensor<2x4xi64>) -> (tensor<f64>, tensor<2x4xf64>)
  return %loss, %lse : tensor<f64>, tensor<2x4xf64>
}

func.func @cross_entropy_mean_grad(%logits: tensor<2x4x9xf64>, %targets: tensor<2x4xi32>, %lse: tensor<2x4xf64>,
                                   %dloss: tensor<f64>) -> tensor<2x4x9xf64> {
  %dlogits = tg.cross_entropy_grad mean %logits, %targets, %lse, %dloss ignore -100
      : (tensor<2x4x9xf64>, tensor<2x4xi32>, tensor<2x4xf64>, tensor<f64>) -> tensor<2x4x9xf64>
  return %dlogits : tensor<2x4x9xf64>
}

func.func @cross_entropy_sum_grad(%logits: tensor<2x4x9xf64>, %targets: tensor<2x4xi32>, %lse: tensor<2x4xf64>,
                                  %dloss: tensor<f64>) -> tensor<2x4x9xf64> {
  %dlogits = tg.cross_entropy_grad sum %logits, %targets, %lse, %dloss ignore -100
      : (tensor<2x4x9xf64>, tensor<2x4xi32>, tensor<2x4xf64>, tensor<f64>) -> tensor<2x4x9xf64>
  return %dlogits : tensor<2x4x9xf64>
}

func.func @count(%logits: tensor<2x4x9xf64>, %targets: tensor<2x4xi32>) -> (tensor<f64>, tensor<f64>) {
  %n = tg.count %targets ignore -100 as 0.125 : tensor<2x4xi32> -> tensor<f64>
  %loss, %lse = tg.cross_entropy sum %logits, %targets ignore -100
      : (tensor<2x4x9xf64>, tensor<2x4xi32>) -> (tensor<f64>, tensor<2x4xf64>)
  return %n, %loss : tensor<f64>, tensor<f64>
}

func.func @sgd(%p: tensor<3x4xf64>, %g: tensor<3x4xf64>, %lr: tensor<f64> {tg.input = "lr", tg.role = #tg.role<lr>}) -> tensor<3x4xf64> {
  %q = tg.update "sgd" %p, %g, %lr {weight_decay = 0.2} : (tensor<3x4xf64>, tensor<3x4xf64>, tensor<f64>) -> tensor<3x4xf64>
  return %q : tensor<3x4xf64>
}

func.func @sgd_momentum(%p: tensor<3x4xf64>, %g: tensor<3x4xf64>, %m: tensor<3x4xf64>,
                        %lr: tensor<f64> {tg.input = "lr", tg.role = #tg.role<lr>}) -> (tensor<3x4xf64>, tensor<3x4xf64>) {
  %q, %n = tg.update "momentum" %p, %g, %lr states %m {momentum = 0.9, weight_decay = 0.1}
      : (tensor<3x4xf64>, tensor<3x4xf64>, tensor<f64>, tensor<3x4xf64>) -> (tensor<3x4xf64>, tensor<3x4xf64>)
  return %q, %n : tensor<3x4xf64>, tensor<3x4xf64>
}

func.func @sgd_nesterov(%p: tensor<3x4xf64>, %g: tensor<3x4xf64>, %m: tensor<3x4xf64>,
                        %lr: tensor<f64> {tg.input = "lr", tg.role = #tg.role<lr>}) -> (tensor<3x4xf64>, tensor<3x4xf64>) {
  %q, %n = tg.update "nesterov" %p, %g, %lr states %m {momentum = 0.9, weight_decay = 0.1}
      : (tensor<3x4xf64>, tensor<3x4xf64>, tensor<f64>, tensor<3x4xf64>) -> (tensor<3x4xf64>, tensor<3x4xf64>)
  return %q, %n : tensor<3x4xf64>, tensor<3x4xf64>
}

func.func @adam(%p: tensor<3x4xf64> {tg.param = #tg.param<"p", #tg.init<normal, 0.0, 1.0>>},
                %g: tensor<3x4xf64>, %m: tensor<3x4xf64>,
                %v: tensor<3x4xf64> {tg.state = #tg.state<"v", #tg.init<zeros>, of = "p", kind = moment>},
                %lr: tensor<f64> {tg.input = "lr", tg.role = #tg.role<lr>}, %step: tensor<i32> {tg.input = "step"})
    -> (tensor<3x4xf64>, tensor<3x4xf64>, tensor<3x4xf64>) {
  %one = arith.constant dense<1> : tensor<i32>
  %t = arith.addi %step, %one : tensor<i32>
  %q, %n, %w = tg.update "adam" %p, %g, %lr, %t states %m, %v {beta1 = 0.9, beta2 = 0.95, eps = 1.0e-8, weight_decay = 0.1}
      : (tensor<3x4xf64>, tensor<3x4xf64>, tensor<f64>, tensor<i32>, tensor<3x4xf64>, tensor<3x4xf64>)
      -> (tensor<3x4xf64>, tensor<3x4xf64>, tensor<3x4xf64>)
  return %q, %n, %w : tensor<3x4xf64>, tensor<3x4xf64>, tensor<3x4xf64>
}

func.func @adamw(%p: tensor<3x4xf64> {tg.param = #tg.param<"p", #tg.init<normal, 0.0, 1.0>>},
                 %g: tensor<3x4xf64>, %m: tensor<3x4xf64>,
                 %v: tensor<3x4xf64> {tg.state = #tg.state<"v", #tg.init<zeros>, of = "p", kind = moment>},
                 %lr: tensor<f64> {tg.input = "lr", tg.role = #tg.role<lr>}, %step: tensor<i32> {tg.input = "step", tg.role = #tg.role<step>})
    -> (tensor<3x4xf64>, tensor<3x4xf64>, tensor<3x4xf64>) {
  %q, %n, %w = tg.update "adamw" %p, %g, %lr, %step states %m, %v {beta1 = 0.9, beta2 = 0.95, eps = 1.0e-8, weight_decay = 0.1}
      : (tensor<3x4xf64>, tensor<3x4xf64>, tensor<f64>, tensor<i32>, tensor<3x4xf64>, tensor<3x4xf64>)
      -> (tensor<3x4xf64>, tensor<3x4xf64>, tensor<3x4xf64>)
  return %q, %n, %w : tensor<3x4xf64>, tensor<3x4xf64>, tensor<3x4xf64>
}

func.func @lion(%p: tensor<3x4xf64>, %g: tensor<3x4xf64>, %m: tensor<3x4xf64>,
                %lr: tensor<f64> {tg.input = "lr", tg.role = #tg.role<lr>}) -> (tensor<3x4xf64>, tensor<3x4xf64>) {
  %q, %n = tg.update "lion" %p, %g, %lr states %m {beta1 = 0.9, beta2 = 0.99, weight_decay = 0.1}
      : (tensor<3x4xf64>, tensor<3x4xf64>, tensor<f64>, tensor<3x4xf64>) -> (tensor<3x4xf64>, tensor<3x4xf64>)
  return %q, %n : tensor<3x4xf64>, tensor<3x4xf64>
}

// What has no sign does not move.
func.func @lion_zero(%p: tensor<4xf64>, %lr: tensor<f64> {tg.input = "lr", tg.role = #tg.role<lr>}) -> tensor<4xf64> {
  %g = arith.constant dense<[-1.0, 0.0, 2.0, -0.0]> : tensor<4xf64>
  %m = arith.constant dense<0.0> : tensor<4xf64>
  %q, %n = tg.update "lion" %p, %g, %lr states %m {beta1 = 0.5, beta2 = 0.5, weight_decay = 0.0}
      : (tensor<4xf64>, tensor<4xf64>, tensor<f64>, tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>)
  return %q : tensor<4xf64>
}

func.func @global_norm(%a: tensor<3x4xf64>, %b: tensor<5xf64>, %c: tensor<f64>) -> tensor<f64> {
  %n = tg.global_norm %a, %b, %c : (tensor<3x4xf64>, tensor<5xf64>, tensor<f64>) -> tensor<f64>
  return %n : tensor<f64>
}

// Lanes that are equal, too, and all lanes.
func.func @top_k(%x: tensor<2x6x8xf64>) -> (tensor<2x6x3xf64>, tensor<2x6x3xi32>) {
  %w, %i = tg.top_k %x k 3 : tensor<2x6x8xf64> -> (tensor<2x6x3xf64>, tensor<2x6x3xi32>)
  return %w, %i : tensor<2x6x3xf64>, tensor<2x6x3xi32>
}

func.func @top_k_of_equals() -> (tensor<5xf64>, tensor<5xi32>) {
  %x = arith.constant dense<[1.0, 2.0, 1.0, -0.5, 2.0]> : tensor<5xf64>
  %w, %i = tg.top_k %x k 5 : tensor<5xf64> -> (tensor<5xf64>, tensor<5xi32>)
  return %w, %i : tensor<5xf64>, tensor<5xi32>
}

func.func @expert_slots(%i: tensor<2x6x2xi32>) -> (tensor<2x6x2xi32>, tensor<4x2x2xi32>) {
  %s, %c = tg.expert_slots %i capacity 2 of 4 : tensor<2x6x2xi32> -> (tensor<2x6x2xi32>, tensor<4x2x2xi32>)
  return %s, %c : tensor<2x6x2xi32>, tensor<4x2x2xi32>
}

// Positions that hold no token, and documents with slots of their own, in rows that have room for all and for less.
func.func @expert_slots_present(%i: tensor<3x6x2xi32>, %d: tensor<3x6xi32>)
    -> (tensor<3x6x2xi32>, tensor<4x3x3xi32>, tensor<3x6x2xi32>, tensor<4x3x6xi32>, tensor<3x6x2xi32>, tensor<4x3x2xi32>) {
  %two = arith.constant dense<3> : tensor<3x6xi32>
  %p = arith.subi %d, %two : tensor<3x6xi32>
  %four = arith.constant dense<4> : tensor<3x6x2xi32>
  %e = arith.remsi %i, %four : tensor<3x6x2xi32>
  %s, %c = tg.expert_slots %e present %p capacity 3 of 4 : (tensor<3x6x2xi32>, tensor<3x6xi32>) -> (tensor<3x6x2xi32>, tensor<4x3x3xi32>)
  %t, %u = tg.expert_slots %e present %p capacity 6 of 4 bound 1 : (tensor<3x6x2xi32>, tensor<3x6xi32>) -> (tensor<3x6x2xi32>, tensor<4x3x6xi32>)
  %v, %w = tg.expert_slots %e present %p capacity 2 of 4 bound 1 : (tensor<3x6x2xi32>, tensor<3x6xi32>) -> (tensor<3x6x2xi32>, tensor<4x3x2xi32>)
  return %s, %c, %t, %u, %v, %w : tensor<3x6x2xi32>, tensor<4x3x3xi32>, tensor<3x6x2xi32>, tensor<4x3x6xi32>, tensor<3x6x2xi32>, tensor<4x3x2xi32>
}

func.func @dispatch(%x: tensor<2x6x3xf64>, %s: tensor<2x6x2xi32>, %c: tensor<4x2x5xi32>) -> tensor<4x2x5x3xf64> {
  %y = tg.dispatch %x, %s, %c : (tensor<2x6x3xf64>, tensor<2x6x2xi32>, tensor<4x2x5xi32>) -> tensor<4x2x5x3xf64>
  return %y : tensor<4x2x5x3xf64>
}

func.func @collect(%y: tensor<4x2x5x3xf64>, %s: tensor<2x6x2xi32>, %c: tensor<4x2x5xi32>) -> tensor<2x6x2x3xf64> {
  %x = tg.collect %y, %s, %c : (tensor<4x2x5x3xf64>, tensor<2x6x2xi32>, tensor<4x2x5xi32>) -> tensor<2x6x2x3xf64>
  return %x : tensor<2x6x2x3xf64>
}

func.func @load_balance(%p: tensor<2x6x4xf64>, %q: tensor<2x6x4xf64>, %i: tensor<2x6x2xi32>, %j: tensor<2x6x2xi32>) -> tensor<f64> {
  %y = tg.load_balance %p, %q choices %i, %j
      : (tensor<2x6x4xf64>, tensor<2x6x4xf64>, tensor<2x6x2xi32>, tensor<2x6x2xi32>) -> tensor<f64>
  return %y : tensor<f64>
}

func.func @router_z(%x: tensor<2x6x4xf64>, %y: tensor<2x6x4xf64>) -> tensor<f64> {
  %z = tg.router_z %x, %y : (tensor<2x6x4xf64>, tensor<2x6x4xf64>) -> tensor<f64>
  return %z : tensor<f64>
}

func.func @router_losses_present(%p: tensor<2x6x4xf64>, %q: tensor<2x6x4xf64>, %i: tensor<2x6x2xi32>, %d: tensor<2x6xi32>) -> (tensor<f64>, tensor<f64>) {
  %three = arith.constant dense<3> : tensor<2x6xi32>
  %present = arith.subi %d, %three : tensor<2x6xi32>
  %y = tg.load_balance %p, %q choices %i, %i present %present
      : (tensor<2x6x4xf64>, tensor<2x6x4xf64>, tensor<2x6x2xi32>, tensor<2x6x2xi32>, tensor<2x6xi32>) -> tensor<f64>
  %z = tg.router_z %p, %q present %present : (tensor<2x6x4xf64>, tensor<2x6x4xf64>, tensor<2x6xi32>) -> tensor<f64>
  return %y, %z : tensor<f64>, tensor<f64>
}

// Without any token both are 0.
func.func @router_losses_of_none(%p: tensor<2x6x4xf64>, %i: tensor<2x6x2xi32>) -> (tensor<f64>, tensor<f64>) {
  %present = arith.constant dense<-1> : tensor<2x6xi32>
  %y = tg.load_balance %p choices %i present %present : (tensor<2x6x4xf64>, tensor<2x6x2xi32>, tensor<2x6xi32>) -> tensor<f64>
  %z = tg.router_z %p present %present : (tensor<2x6x4xf64>, tensor<2x6xi32>) -> tensor<f64>
  return %y, %z : tensor<f64>, tensor<f64>
}

// The mean of no loss is 0.
func.func @cross_entropy_of_none(%logits: tensor<4x9xf64>) -> tensor<f64> {
  %targets = arith.constant dense<-100> : tensor<4xi32>
  %loss, %lse = tg.cross_entropy mean %logits, %targets ignore -100
      : (tensor<4x9xf64>, tensor<4xi32>) -> (tensor<f64>, tensor<4xf64>)
  return %loss : tensor<f64>
}
