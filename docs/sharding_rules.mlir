// An example of every op that has a sharding rule of its own: sharding_rules.py
// writes the table of Sharding.md from it, and test/parallel/rules.test runs every
// example on shards.  All sizes are even.

comm.mesh @mesh [x = 2]

// Contraction, movement and reduction.
func.func @contract(%x: tensor<2x4x6xf32>, %w: tensor<6x8xf32>) -> tensor<2x4x8xf32> {
  %y = tg.contract "bsd,df->bsf" %x, %w : (tensor<2x4x6xf32>, tensor<6x8xf32>) -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}
func.func @broadcast(%x: tensor<6xf32>) -> tensor<4x6xf32> {
  %y = tg.broadcast %x dims [1] : tensor<6xf32> -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
func.func @broadcast_scalar(%x: tensor<f32>) -> tensor<4x6xf32> {
  %y = tg.broadcast %x dims [] : tensor<f32> -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
func.func @reduce_sum(%x: tensor<4x6xf32>) -> tensor<4xf32> {
  %y = tg.reduce sum %x dims [1] : tensor<4x6xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @reduce_mean(%x: tensor<4x6xf32>) -> tensor<6xf32> {
  %y = tg.reduce mean %x dims [0] : tensor<4x6xf32> -> tensor<6xf32>
  return %y : tensor<6xf32>
}
func.func @reduce_max(%x: tensor<4x6xf32>) -> tensor<f32> {
  %y = tg.reduce max %x dims [0, 1] : tensor<4x6xf32> -> tensor<f32>
  return %y : tensor<f32>
}
func.func @transpose(%x: tensor<2x4x6xf32>) -> tensor<6x2x4xf32> {
  %y = tg.transpose %x [2, 0, 1] : tensor<2x4x6xf32> -> tensor<6x2x4xf32>
  return %y : tensor<6x2x4xf32>
}
func.func @reshape(%x: tensor<2x4x12xf32>) -> tensor<8x2x6xf32> {
  %y = tg.reshape %x : tensor<2x4x12xf32> -> tensor<8x2x6xf32>
  return %y : tensor<8x2x6xf32>
}
func.func @slice(%x: tensor<4x12xf32>) -> tensor<4x6xf32> {
  %y = tg.slice %x dim 1 offset 2 size 6 : tensor<4x12xf32> -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
func.func @concat(%x: tensor<4x2xf32>, %y: tensor<4x6xf32>) -> tensor<4x8xf32> {
  %z = tg.concat %x, %y dim 1 : (tensor<4x2xf32>, tensor<4x6xf32>) -> tensor<4x8xf32>
  return %z : tensor<4x8xf32>
}
func.func @reorder(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = tg.reorder %x dim 1 order [0, 2, 1] : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
func.func @pad(%x: tensor<4x6xf32>) -> tensor<4x8xf32> {
  %y = tg.pad %x dim 1 low 2 high 0 value 0.0 : tensor<4x6xf32> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
func.func @gather(%table: tensor<8x6xf32>, %tokens: tensor<2x4xi32>) -> tensor<2x4x6xf32> {
  %y = tg.gather %table, %tokens : (tensor<8x6xf32>, tensor<2x4xi32>) -> tensor<2x4x6xf32>
  return %y : tensor<2x4x6xf32>
}
func.func @scatter_add(%tokens: tensor<2x4xi32>, %dy: tensor<2x4x6xf32>) -> tensor<8x6xf32> {
  %y = tg.scatter_add %tokens, %dy : (tensor<2x4xi32>, tensor<2x4x6xf32>) -> tensor<8x6xf32>
  return %y : tensor<8x6xf32>
}
func.func @iota() -> tensor<4x6xbf16> {
  %y = tg.iota dim 1 : tensor<4x6xbf16>
  return %y : tensor<4x6xbf16>
}
func.func @convert(%x: tensor<4x6xf32>) -> tensor<4x6xbf16> {
  %y = tg.convert %x : tensor<4x6xf32> -> tensor<4x6xbf16>
  return %y : tensor<4x6xbf16>
}
func.func @random_uniform(%key: tensor<4xi32>) -> tensor<4x6xf32> {
  %y = tg.random_uniform %key stream 3 : tensor<4xi32> -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
func.func @random_block(%key: tensor<4xi32>) -> tensor<4x6xf32> {
  %row = arith.constant dense<2> : tensor<i32>
  %column = arith.constant dense<1> : tensor<i32>
  %y = tg.random_uniform %key stream 3 at (%row, %column) of [8, 8] : (tensor<4xi32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
func.func @stop_gradient(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = tg.stop_gradient %x : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
func.func @hook(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = tg.hook %x "h.0.enter" order 0 : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
func.func @count(%targets: tensor<2x4xi32>) -> tensor<f32> {
  %y = tg.count %targets ignore 3 : tensor<2x4xi32> -> tensor<f32>
  return %y : tensor<f32>
}

// Activations.
func.func @gelu(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = tg.gelu tanh %x : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
func.func @gelu_grad(%x: tensor<4x6xf32>, %dy: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %dx = tg.gelu_grad tanh %x, %dy : tensor<4x6xf32>
  return %dx : tensor<4x6xf32>
}
func.func @silu(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = tg.silu %x : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
func.func @silu_grad(%x: tensor<4x6xf32>, %dy: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %dx = tg.silu_grad %x, %dy : tensor<4x6xf32>
  return %dx : tensor<4x6xf32>
}
func.func @relu(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = tg.relu %x : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
func.func @dropout(%x: tensor<4x6xf32>, %key: tensor<4xi32>) -> tensor<4x6xf32> {
  %y = tg.dropout %x, %key rate 0.25 stream 3 : (tensor<4x6xf32>, tensor<4xi32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
func.func @in_training(%a: tensor<4x6xf32>, %b: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = tg.in_training %a, %b : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// Softmax and norms.
func.func @softmax(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = tg.softmax %x : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
func.func @softmax_grad(%y: tensor<4x6xf32>, %dy: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %dx = tg.softmax_grad %y, %dy : tensor<4x6xf32>
  return %dx : tensor<4x6xf32>
}
func.func @layer_norm(%x: tensor<4x6xf32>, %weight: tensor<6xf32>, %bias: tensor<6xf32>) -> (tensor<4x6xf32>, tensor<4xf32>, tensor<4xf32>) {
  %y, %mean, %rstd = tg.layer_norm %x, %weight, %bias eps 1.0e-5 : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<4xf32>, tensor<4xf32>)
  return %y, %mean, %rstd : tensor<4x6xf32>, tensor<4xf32>, tensor<4xf32>
}
func.func @layer_norm_grad(%x: tensor<4x6xf32>, %weight: tensor<6xf32>, %mean: tensor<4xf32>, %rstd: tensor<4xf32>, %dy: tensor<4x6xf32>)
    -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) {
  %dx, %dw, %db = tg.layer_norm_grad %x, %weight, %mean, %rstd, %dy
      : (tensor<4x6xf32>, tensor<6xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
  return %dx, %dw, %db : tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>
}
func.func @rms_norm(%x: tensor<4x6xf32>, %weight: tensor<6xf32>) -> (tensor<4x6xf32>, tensor<4xf32>) {
  %y, %rrms = tg.rms_norm %x, %weight eps 1.0e-5 : (tensor<4x6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<4xf32>)
  return %y, %rrms : tensor<4x6xf32>, tensor<4xf32>
}
func.func @rms_norm_grad(%x: tensor<4x6xf32>, %weight: tensor<6xf32>, %rrms: tensor<4xf32>, %dy: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>) {
  %dx, %dw = tg.rms_norm_grad %x, %weight, %rrms, %dy : (tensor<4x6xf32>, tensor<6xf32>, tensor<4xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>)
  return %dx, %dw : tensor<4x6xf32>, tensor<6xf32>
}

// Attention: b batch, s query position, t key position, k key heads with g query
// heads each, d head size.
func.func @attention(%q: tensor<2x6x4x8xf32>, %k: tensor<2x4x2x8xf32>, %v: tensor<2x4x2x8xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x4x6xf32>) {
  %o, %lse = tg.attention %q, %k, %v scale 0.5 : (tensor<2x6x4x8xf32>, tensor<2x4x2x8xf32>, tensor<2x4x2x8xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x4x6xf32>)
  return %o, %lse : tensor<2x6x4x8xf32>, tensor<2x4x6xf32>
}
func.func @attention_causal(%q: tensor<2x6x4x8xf32>, %k: tensor<2x6x2x8xf32>, %v: tensor<2x6x2x8xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x4x6xf32>) {
  %o, %lse = tg.attention %q, %k, %v scale 0.5 causal : (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x4x6xf32>)
  return %o, %lse : tensor<2x6x4x8xf32>, tensor<2x4x6xf32>
}
func.func @dropout_attention(%q: tensor<2x6x4x8xf32>, %k: tensor<2x4x2x8xf32>, %v: tensor<2x4x2x8xf32>, %random: tensor<4xi32>) -> tensor<2x6x4x8xf32> {
  %o = tg.dropout_attention %q, %k, %v, %random scale 0.5 rate 0.25 stream 3 : (tensor<2x6x4x8xf32>, tensor<2x4x2x8xf32>, tensor<2x4x2x8xf32>, tensor<4xi32>) -> tensor<2x6x4x8xf32>
  return %o : tensor<2x6x4x8xf32>
}
func.func @attention_grad(%q: tensor<2x6x4x8xf32>, %k: tensor<2x4x2x8xf32>, %v: tensor<2x4x2x8xf32>, %o: tensor<2x6x4x8xf32>, %lse: tensor<2x4x6xf32>, %do: tensor<2x6x4x8xf32>)
    -> (tensor<2x6x4x8xf32>, tensor<2x4x2x8xf32>, tensor<2x4x2x8xf32>) {
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do scale 0.5
      : (tensor<2x6x4x8xf32>, tensor<2x4x2x8xf32>, tensor<2x4x2x8xf32>, tensor<2x6x4x8xf32>, tensor<2x4x6xf32>, tensor<2x6x4x8xf32>)
      -> (tensor<2x6x4x8xf32>, tensor<2x4x2x8xf32>, tensor<2x4x2x8xf32>)
  return %dq, %dk, %dv : tensor<2x6x4x8xf32>, tensor<2x4x2x8xf32>, tensor<2x4x2x8xf32>
}
func.func @attention_grad_causal(%q: tensor<2x6x4x8xf32>, %k: tensor<2x6x2x8xf32>, %v: tensor<2x6x2x8xf32>, %o: tensor<2x6x4x8xf32>, %lse: tensor<2x4x6xf32>, %do: tensor<2x6x4x8xf32>)
    -> (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>) {
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do scale 0.5 causal
      : (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x4x8xf32>, tensor<2x4x6xf32>, tensor<2x6x4x8xf32>)
      -> (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>)
  return %dq, %dk, %dv : tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>
}
func.func @rope(%x: tensor<2x6x4x8xf32>) -> tensor<2x6x4x8xf32> {
  %y = tg.rope %x theta 1.0e4 : tensor<2x6x4x8xf32>
  return %y : tensor<2x6x4x8xf32>
}

// Loss.
func.func @cross_entropy(%logits: tensor<2x4x8xf32>, %targets: tensor<2x4xi32>) -> (tensor<f32>, tensor<2x4xf32>) {
  %loss, %lse = tg.cross_entropy sum %logits, %targets ignore 3 : (tensor<2x4x8xf32>, tensor<2x4xi32>) -> (tensor<f32>, tensor<2x4xf32>)
  return %loss, %lse : tensor<f32>, tensor<2x4xf32>
}
func.func @cross_entropy_mean(%logits: tensor<2x4x8xf32>, %targets: tensor<2x4xi32>) -> (tensor<f32>, tensor<2x4xf32>) {
  %loss, %lse = tg.cross_entropy mean %logits, %targets ignore 3 : (tensor<2x4x8xf32>, tensor<2x4xi32>) -> (tensor<f32>, tensor<2x4xf32>)
  return %loss, %lse : tensor<f32>, tensor<2x4xf32>
}
func.func @cross_entropy_grad(%logits: tensor<2x4x8xf32>, %targets: tensor<2x4xi32>, %lse: tensor<2x4xf32>, %dloss: tensor<f32>) -> tensor<2x4x8xf32> {
  %dx = tg.cross_entropy_grad sum %logits, %targets, %lse, %dloss ignore 3 : (tensor<2x4x8xf32>, tensor<2x4xi32>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x4x8xf32>
  return %dx : tensor<2x4x8xf32>
}
func.func @cross_entropy_grad_mean(%logits: tensor<2x4x8xf32>, %targets: tensor<2x4xi32>, %lse: tensor<2x4xf32>, %dloss: tensor<f32>) -> tensor<2x4x8xf32> {
  %dx = tg.cross_entropy_grad mean %logits, %targets, %lse, %dloss ignore 3 : (tensor<2x4x8xf32>, tensor<2x4xi32>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x4x8xf32>
  return %dx : tensor<2x4x8xf32>
}

// Optimizers.
func.func @sgd(%p: tensor<4x6xf32>, %g: tensor<4x6xf32>, %lr: tensor<f32>, %m: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %p1, %m1 = tg.update "nesterov" %p, %g, %lr states %m {momentum = 0.9, weight_decay = 0.0} : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<f32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)
  return %p1, %m1 : tensor<4x6xf32>, tensor<4x6xf32>
}
func.func @adam(%p: tensor<4x6xf32>, %g: tensor<4x6xf32>, %m: tensor<4x6xf32>, %v: tensor<4x6xf32>, %lr: tensor<f32>) -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) {
  %step = arith.constant dense<3> : tensor<i32>
  %square = arith.mulf %v, %v : tensor<4x6xf32>
  %p1, %m1, %v1 = tg.update "adamw" %p, %g, %lr, %step states %m, %square {beta1 = 0.9, beta2 = 0.95, eps = 1.0e-8, weight_decay = 0.1}
      : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<f32>, tensor<i32>, tensor<4x6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>)
  return %p1, %m1, %v1 : tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>
}
func.func @quantize(%x: tensor<4x8xf32>, %t: tensor<4x8xf32>) -> (tensor<4x8xi8>, tensor<4x2xf32>) {
  %c, %s = tg.quantize %x at %t block 4 : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xi8>, tensor<4x2xf32>)
  return %c, %s : tensor<4x8xi8>, tensor<4x2xf32>
}
func.func @dequantize(%c: tensor<4x8xi8>, %s: tensor<4x2xf32>) -> tensor<4x8xf32> {
  %x = tg.dequantize %c, %s : (tensor<4x8xi8>, tensor<4x2xf32>) -> tensor<4x8xf32>
  return %x : tensor<4x8xf32>
}
func.func @global_norm(%a: tensor<4x6xf32>, %b: tensor<2xf32>) -> tensor<f32> {
  %n = tg.global_norm %a, %b : (tensor<4x6xf32>, tensor<2xf32>) -> tensor<f32>
  return %n : tensor<f32>
}

// Experts: rows b of tokens s with k choices each; experts e with c slots for each row.
func.func @top_k(%x: tensor<2x4x6xf32>) -> (tensor<2x4x2xf32>, tensor<2x4x2xi32>) {
  %v, %i = tg.top_k %x k 2 : tensor<2x4x6xf32> -> (tensor<2x4x2xf32>, tensor<2x4x2xi32>)
  return %v, %i : tensor<2x4x2xf32>, tensor<2x4x2xi32>
}
func.func @expert_slots(%i: tensor<2x4x2xi32>) -> (tensor<2x4x2xi32>, tensor<6x2x2xi32>) {
  %s, %c = tg.expert_slots %i capacity 2 of 6 : tensor<2x4x2xi32> -> (tensor<2x4x2xi32>, tensor<6x2x2xi32>)
  return %s, %c : tensor<2x4x2xi32>, tensor<6x2x2xi32>
}
func.func @dispatch(%x: tensor<2x4x8xf32>, %s: tensor<2x4x2xi32>, %c: tensor<6x2x2xi32>) -> tensor<6x2x2x8xf32> {
  %y = tg.dispatch %x, %s, %c : (tensor<2x4x8xf32>, tensor<2x4x2xi32>, tensor<6x2x2xi32>) -> tensor<6x2x2x8xf32>
  return %y : tensor<6x2x2x8xf32>
}
func.func @collect(%x: tensor<6x2x2x8xf32>, %s: tensor<2x4x2xi32>, %c: tensor<6x2x2xi32>) -> tensor<2x4x2x8xf32> {
  %y = tg.collect %x, %s, %c : (tensor<6x2x2x8xf32>, tensor<2x4x2xi32>, tensor<6x2x2xi32>) -> tensor<2x4x2x8xf32>
  return %y : tensor<2x4x2x8xf32>
}
func.func @expert_slots_present(%i: tensor<2x4x2xi32>, %p: tensor<2x4xi32>) -> (tensor<2x4x2xi32>, tensor<6x2x4xi32>) {
  %s, %c = tg.expert_slots %i present %p capacity 4 of 6 bound 2 : (tensor<2x4x2xi32>, tensor<2x4xi32>) -> (tensor<2x4x2xi32>, tensor<6x2x4xi32>)
  return %s, %c : tensor<2x4x2xi32>, tensor<6x2x4xi32>
}
func.func @load_balance_present(%p: tensor<2x4x6xf32>, %i: tensor<2x4x2xi32>, %r: tensor<2x4xi32>) -> tensor<f32> {
  %y = tg.load_balance %p choices %i present %r : (tensor<2x4x6xf32>, tensor<2x4x2xi32>, tensor<2x4xi32>) -> tensor<f32>
  return %y : tensor<f32>
}
func.func @router_z_present(%x: tensor<2x4x6xf32>, %r: tensor<2x4xi32>) -> tensor<f32> {
  %z = tg.router_z %x present %r : (tensor<2x4x6xf32>, tensor<2x4xi32>) -> tensor<f32>
  return %z : tensor<f32>
}
func.func @load_balance(%p: tensor<2x4x6xf32>, %i: tensor<2x4x2xi32>) -> tensor<f32> {
  %y = tg.load_balance %p choices %i : (tensor<2x4x6xf32>, tensor<2x4x2xi32>) -> tensor<f32>
  return %y : tensor<f32>
}
func.func @router_z(%x: tensor<2x4x6xf32>, %y: tensor<2x4x6xf32>) -> tensor<f32> {
  %z = tg.router_z %x, %y : (tensor<2x4x6xf32>, tensor<2x4x6xf32>) -> tensor<f32>
  return %z : tensor<f32>
}

// Elementwise arithmetic through which partial values may pass, and constants; all
// other elementwise ops have the rule of a maximum.
func.func @add(%x: tensor<4x6xf32>, %y: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %z = arith.addf %x, %y : tensor<4x6xf32>
  return %z : tensor<4x6xf32>
}
func.func @subtract(%x: tensor<4x6xf32>, %y: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %z = arith.subf %x, %y : tensor<4x6xf32>
  return %z : tensor<4x6xf32>
}
func.func @multiply(%x: tensor<4x6xf32>, %y: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %z = arith.mulf %x, %y : tensor<4x6xf32>
  return %z : tensor<4x6xf32>
}
func.func @divide(%x: tensor<4x6xf32>, %y: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %z = arith.divf %x, %y : tensor<4x6xf32>
  return %z : tensor<4x6xf32>
}
func.func @negate(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %z = arith.negf %x : tensor<4x6xf32>
  return %z : tensor<4x6xf32>
}
func.func @select(%c: tensor<4x6xi1>, %x: tensor<4x6xf32>, %y: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %z = arith.select %c, %x, %y : tensor<4x6xi1>, tensor<4x6xf32>
  return %z : tensor<4x6xf32>
}
func.func @maximum(%x: tensor<4x6xf32>, %y: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %z = arith.maximumf %x, %y : tensor<4x6xf32>
  return %z : tensor<4x6xf32>
}
func.func @constant() -> tensor<4x6xf32> {
  %z = arith.constant dense<2.0> : tensor<4x6xf32>
  return %z : tensor<4x6xf32>
}
func.func @constant_table() -> tensor<2xf32> {
  %z = arith.constant dense<[2.0, 3.0]> : tensor<2xf32>
  return %z : tensor<2xf32>
}
func.func @constrain(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = comm.constrain %x <@mesh, {x} {}> : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
