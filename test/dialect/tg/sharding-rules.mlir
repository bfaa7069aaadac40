// The sharding rule of every op, in the notation of ShardingRule.h.
//
// RUN: braid-opt %s --split-input-file --tg-print-sharding-rules --verify-diagnostics -o /dev/null

func.func @elementwise(%x: tensor<4x8xf32>, %s: tensor<f32>, %key: tensor<4xi32>, %c: tensor<4x8xi1>, %o: tensor<i32>) {
  // expected-remark @below {{tg.gelu: a b -> a b flat}}
  %0 = tg.gelu tanh %x : tensor<4x8xf32>
  // expected-remark @below {{tg.gelu_grad: a b, a b -> a b flat}}
  %1 = tg.gelu_grad tanh %x, %x : tensor<4x8xf32>
  // expected-remark @below {{tg.silu: a b -> a b flat}}
  %2 = tg.silu %x : tensor<4x8xf32>
  // expected-remark @below {{tg.silu_grad: a b, a b -> a b flat}}
  %3 = tg.silu_grad %x, %x : tensor<4x8xf32>
  // expected-remark @below {{tg.convert: a b -> a b linear {0} flat}}
  %4 = tg.convert %x : tensor<4x8xf32> -> tensor<4x8xbf16>
  // expected-remark @below {{tg.convert: a b -> a b flat}}
  %wide = tg.convert %x : tensor<4x8xf32> -> tensor<4x8xf64>
  // expected-remark @below {{tg.stop_gradient: a b -> a b linear {0} flat}}
  %5 = tg.stop_gradient %x : tensor<4x8xf32>
  // expected-remark @below {{tg.hook: a b -> a b linear {0} flat}}
  %6 = tg.hook %x "x" order 0 : tensor<4x8xf32>
  // expected-remark @below {{arith.addf: a b, a b -> a b linear {0 1} flat}}
  %7 = arith.addf %x, %x : tensor<4x8xf32>
  // expected-remark @below {{arith.constant: -> a b linear {} flat}}
  %8 = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-remark @below {{arith.constant: -> a whole a}}
  %9 = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // expected-remark @below {{arith.subf: a b, a b -> a b linear {0 1} flat}}
  %14 = arith.subf %x, %x : tensor<4x8xf32>
  // expected-remark @below {{arith.mulf: a b, a b -> a b linear {0} {1} flat}}
  %15 = arith.mulf %x, %x : tensor<4x8xf32>
  // expected-remark @below {{arith.divf: a b, a b -> a b linear {0} flat}}
  %16 = arith.divf %x, %x : tensor<4x8xf32>
  // expected-remark @below {{arith.negf: a b -> a b linear {0} flat}}
  %17 = arith.negf %x : tensor<4x8xf32>
  // expected-remark @below {{arith.maximumf: a b, a b -> a b flat}}
  %18 = arith.maximumf %x, %x : tensor<4x8xf32>
  // expected-remark @below {{arith.select: a b, a b, a b -> a b linear {1 2} flat}}
  %19 = arith.select %c, %x, %x : tensor<4x8xi1>, tensor<4x8xf32>
  // expected-remark @below {{arith.addf: (), () -> () linear {0 1}}}
  %20 = arith.addf %s, %s : tensor<f32>
  // expected-remark @below {{tg.dropout: a b, 1 -> a b positional a b decomposed a b}}
  %10 = tg.dropout %x, %key rate 0.1 stream 0 : (tensor<4x8xf32>, tensor<4xi32>) -> tensor<4x8xf32>
  // expected-remark @below {{tg.random_uniform: 1 -> a b positional a b}}
  %11 = tg.random_uniform %key stream 0 : tensor<4xi32> -> tensor<2x8xf32>
  // expected-remark @below {{tg.random_uniform: 1, (), () -> a b positional a b}}
  %21 = tg.random_uniform %key stream 0 at (%o, %o) of [4, 8] : (tensor<4xi32>, tensor<i32>, tensor<i32>) -> tensor<2x8xf32>
  // expected-remark @below {{tg.iota: -> a b positional b}}
  %12 = tg.iota dim 1 : tensor<4x8xi32>
  // expected-remark @below {{tg.relu: a b -> a b flat}}
  %13 = tg.relu %x : tensor<4x8xf32>
  return
}

// -----

func.func @movement(%x: tensor<2x4x6xf32>, %w: tensor<6x16xf32>, %v: tensor<6xf32>, %one: tensor<1x6xf32>, %i: tensor<2x4xi32>) {
  // expected-remark @below {{tg.contract: b s d, d f -> b s f reduced d linear {0} {1}}}
  %0 = tg.contract "bsd,df->bsf" %x, %w : (tensor<2x4x6xf32>, tensor<6x16xf32>) -> tensor<2x4x16xf32>
  // expected-remark @below {{tg.contract: d, d -> () reduced d linear {0} {1}}}
  %1 = tg.contract "d,d->" %v, %v : (tensor<6xf32>, tensor<6xf32>) -> tensor<f32>
  // expected-remark @below {{tg.broadcast: c -> a b c linear {0}}}
  %2 = tg.broadcast %v dims [2] : tensor<6xf32> -> tensor<2x4x6xf32>
  // expected-remark @below {{tg.broadcast: 1 b -> a b linear {0}}}
  %3 = tg.broadcast %one dims [0, 1] : tensor<1x6xf32> -> tensor<4x6xf32>
  // expected-remark @below {{tg.reduce: a b c -> b reduced a c linear {0}}}
  %4 = tg.reduce sum %x dims [0, 2] : tensor<2x4x6xf32> -> tensor<4xf32>
  // expected-remark @below {{tg.reduce: a b c -> a c reduced max b}}
  %12 = tg.reduce max %x dims [1] : tensor<2x4x6xf32> -> tensor<2x6xf32>
  // expected-remark @below {{tg.reduce: a b c -> () reduced mean a b c linear {0}}}
  %13 = tg.reduce mean %x dims [0, 1, 2] : tensor<2x4x6xf32> -> tensor<f32>
  // expected-remark @below {{tg.reduce: a b c -> () reduced a b c linear {0} flat}}
  %14 = tg.reduce sum %x dims [0, 1, 2] : tensor<2x4x6xf32> -> tensor<f32>
  // expected-remark @below {{tg.reduce: a b c -> () reduced max a b c flat}}
  %15 = tg.reduce max %x dims [0, 1, 2] : tensor<2x4x6xf32> -> tensor<f32>
  // expected-remark @below {{tg.broadcast: () -> a b linear {0} flat}}
  %16 = tg.broadcast %14 dims [] : tensor<f32> -> tensor<2x6xf32>
  // expected-remark @below {{tg.transpose: a b c -> c a b linear {0}}}
  %5 = tg.transpose %x [2, 0, 1] : tensor<2x4x6xf32> -> tensor<6x2x4xf32>
  // expected-remark @below {{tg.slice: a b d -> a b c whole c d linear {0}}}
  %6 = tg.slice %x dim 2 offset 1 size 3 : tensor<2x4x6xf32> -> tensor<2x4x3xf32>
  // expected-remark @below {{tg.concat: a c, a d, a e -> a b whole b c d e linear {0 1 2}}}
  %7 = tg.concat %one, %one, %one dim 1 : (tensor<1x6xf32>, tensor<1x6xf32>, tensor<1x6xf32>) -> tensor<1x18xf32>
  // expected-remark @below {{tg.reorder: a c -> a b whole b c linear {0}}}
  %reordered = tg.reorder %one dim 1 order [1, 2, 0] : tensor<1x6xf32>
  // expected-remark @below {{tg.pad: b -> a whole a b linear {0}}}
  %8 = tg.pad %v dim 0 low 1 high 1 value 0.0 : tensor<6xf32> -> tensor<8xf32>
  // expected-remark @below {{tg.pad: b -> a whole a b}}
  %17 = tg.pad %v dim 0 low 1 high 1 value 1.0 : tensor<6xf32> -> tensor<8xf32>
  // expected-remark @below {{tg.gather: v d, a b -> a b d reduced v positional v linear {0}}}
  %9 = tg.gather %w, %i : (tensor<6x16xf32>, tensor<2x4xi32>) -> tensor<2x4x16xf32>
  // expected-remark @below {{tg.scatter_add: a b, a b d -> v d reduced a b positional v linear {1}}}
  %10 = tg.scatter_add %i, %x : (tensor<2x4xi32>, tensor<2x4x6xf32>) -> tensor<32x6xf32>
  // expected-remark @below {{tg.count: a b -> () reduced a b}}
  %11 = tg.count %i ignore -1 : tensor<2x4xi32> -> tensor<f32>
  return
}

// -----

// A reshape has the factors that both shapes have, major to minor.
func.func @reshape(%x: tensor<6x4xf32>, %y: tensor<2x1x4x6xf32>, %z: tensor<3x5xf32>, %e: tensor<1x1xf32>) {
  // expected-remark @below {{tg.reshape: a b -> ab linear {0} flat}}
  %0 = tg.reshape %x : tensor<6x4xf32> -> tensor<24xf32>
  // expected-remark @below {{tg.reshape: ab -> a b linear {0} flat}}
  %1 = tg.reshape %0 : tensor<24xf32> -> tensor<6x4xf32>
  // expected-remark @below {{tg.reshape: a b c de -> abc d e linear {0} flat}}
  %2 = tg.reshape %y : tensor<2x1x4x6xf32> -> tensor<8x2x3xf32>
  // expected-remark @below {{tg.reshape: ab e -> ac d whole b c d e linear {0} flat}}
  %3 = tg.reshape %x : tensor<6x4xf32> -> tensor<4x6xf32>
  // expected-remark @below {{tg.reshape: a c -> b d whole a b c d linear {0} flat}}
  %4 = tg.reshape %z : tensor<3x5xf32> -> tensor<5x3xf32>
  // expected-remark @below {{tg.reshape: a bc -> a b c linear {0} flat}}
  %5 = tg.reshape %z : tensor<3x5xf32> -> tensor<3x1x5xf32>
  // expected-remark @below {{tg.reshape: a b -> () linear {0}}}
  %6 = tg.reshape %e : tensor<1x1xf32> -> tensor<f32>
  return
}

// -----

func.func @rows(%x: tensor<2x4x8xf32>, %w: tensor<8xf32>, %r: tensor<2x4xf32>, %t: tensor<2x4xi32>, %s: tensor<f32>) {
  // expected-remark @below {{tg.softmax: a b n -> a b n whole n decomposed n}}
  %0 = tg.softmax %x : tensor<2x4x8xf32>
  // expected-remark @below {{tg.softmax_grad: a b n, a b n -> a b n whole n decomposed n}}
  %1 = tg.softmax_grad %x, %x : tensor<2x4x8xf32>
  // expected-remark @below {{tg.layer_norm: a b n, n, n -> a b n, a b, a b whole n decomposed n}}
  %2:3 = tg.layer_norm %x, %w, %w eps 1.0e-5 : (tensor<2x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<2x4x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  // expected-remark @below {{tg.layer_norm: a b n, n -> a b n, a b, a b whole n decomposed n}}
  %3:3 = tg.layer_norm %x, %w eps 1.0e-5 : (tensor<2x4x8xf32>, tensor<8xf32>) -> (tensor<2x4x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  // expected-remark @below {{tg.layer_norm_grad: a b n, n, a b, a b, a b n -> a b n, n, n whole n decomposed n}}
  %4:3 = tg.layer_norm_grad %x, %w, %r, %r, %x : (tensor<2x4x8xf32>, tensor<8xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4x8xf32>) -> (tensor<2x4x8xf32>, tensor<8xf32>, tensor<8xf32>)
  // expected-remark @below {{tg.rms_norm: a b n, n -> a b n, a b whole n decomposed n}}
  %5:2 = tg.rms_norm %x, %w eps 1.0e-5 : (tensor<2x4x8xf32>, tensor<8xf32>) -> (tensor<2x4x8xf32>, tensor<2x4xf32>)
  // expected-remark @below {{tg.rms_norm_grad: a b n, n, a b, a b n -> a b n, n whole n decomposed n}}
  %6:2 = tg.rms_norm_grad %x, %w, %r, %x : (tensor<2x4x8xf32>, tensor<8xf32>, tensor<2x4xf32>, tensor<2x4x8xf32>) -> (tensor<2x4x8xf32>, tensor<8xf32>)
  // expected-remark @below {{tg.cross_entropy: a b v, a b -> (), a b whole v decomposed a b v}}
  %7:2 = tg.cross_entropy mean %x, %t ignore -100 : (tensor<2x4x8xf32>, tensor<2x4xi32>) -> (tensor<f32>, tensor<2x4xf32>)
  // expected-remark @below {{tg.cross_entropy_grad: a b v, a b, a b, () -> a b v whole v decomposed a b v}}
  %8 = tg.cross_entropy_grad mean %x, %t, %r, %s ignore -100 : (tensor<2x4x8xf32>, tensor<2x4xi32>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x4x8xf32>
  // expected-remark @below {{tg.cross_entropy: a b v, a b -> (), a b whole v decomposed v}}
  %9:2 = tg.cross_entropy sum %x, %t ignore -100 : (tensor<2x4x8xf32>, tensor<2x4xi32>) -> (tensor<f32>, tensor<2x4xf32>)
  // expected-remark @below {{tg.cross_entropy_grad: a b v, a b, a b, () -> a b v whole v decomposed v}}
  %10 = tg.cross_entropy_grad sum %x, %t, %r, %s ignore -100 : (tensor<2x4x8xf32>, tensor<2x4xi32>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x4x8xf32>
  return
}

// -----

// k kv heads with g query heads each; the keys' sequence t is whole in the
// forward softmax and reduced in dq.
func.func @attention(%q: tensor<2x8x4x4xf32>, %k: tensor<2x8x2x4xf32>, %lse: tensor<2x4x8xf32>) {
  // expected-remark @below {{tg.attention: b s kg d, b t k d, b t k d -> b s kg d, b kg s whole d t positional s}}
  %0:2 = tg.attention %q, %k, %k scale 0.5 causal : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
  // expected-remark @below {{tg.attention: b s kg d, b t k d, b t k d -> b s kg d, b kg s whole d t}}
  %1:2 = tg.attention %q, %k, %k scale 0.5 : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
  // expected-remark @below {{tg.attention_grad: b s kg d, b t k d, b t k d, b s kg d, b kg s, b s kg d -> b s kg d, b t k d, b t k d whole d t positional s}}
  %2:3 = tg.attention_grad %q, %k, %k, %q, %lse, %q scale 0.5 causal
      : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x4x4xf32>, tensor<2x4x8xf32>, tensor<2x8x4x4xf32>)
      -> (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>)
  // expected-remark @below {{tg.attention_grad: b s kg d, b t k d, b t k d, b s kg d, b kg s, b s kg d -> b s kg d, b t k d, b t k d whole d}}
  %4:3 = tg.attention_grad %q, %k, %k, %q, %lse, %q scale 0.5
      : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x4x4xf32>, tensor<2x4x8xf32>, tensor<2x8x4x4xf32>)
      -> (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>)
  // expected-remark @below {{tg.rope: b s h d -> b s h d whole d positional s decomposed s}}
  %3 = tg.rope %q theta 1.0e4 : tensor<2x8x4x4xf32>
  return
}

// -----

func.func @optimizers(%p: tensor<8x2xf32>, %lr: tensor<f32>, %step: tensor<i32>) {
  // expected-remark @below {{tg.update: a b, a b, (), a b -> a b, a b flat}}
  %0:2 = tg.update "momentum" %p, %p, %lr states %p {momentum = 0.9, weight_decay = 0.0} : (tensor<8x2xf32>, tensor<8x2xf32>, tensor<f32>, tensor<8x2xf32>) -> (tensor<8x2xf32>, tensor<8x2xf32>)
  // expected-remark @below {{tg.update: a b, a b, (), (), a b, a b -> a b, a b, a b flat}}
  %1:3 = tg.update "adam" %p, %p, %lr, %step states %p, %p {beta1 = 0.9, beta2 = 0.95, eps = 1.0e-8, weight_decay = 0.1}
      : (tensor<8x2xf32>, tensor<8x2xf32>, tensor<f32>, tensor<i32>, tensor<8x2xf32>, tensor<8x2xf32>) -> (tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x2xf32>)
  // expected-remark @below {{tg.quantize: a bi, a bi -> a bi, a b whole i flat unpadded}}
  %codes, %scales = tg.quantize %p at %p block 1 : (tensor<8x2xf32>, tensor<8x2xf32>) -> (tensor<8x2xi8>, tensor<8x2xf32>)
  // expected-remark @below {{tg.dequantize: a bi, a b -> a bi whole i flat unpadded}}
  %decoded = tg.dequantize %codes, %scales : (tensor<8x2xi8>, tensor<8x2xf32>) -> tensor<8x2xf32>
  // expected-remark @below {{tg.global_norm: a b, c d -> () reduced a b c d decomposed a b c d}}
  %2 = tg.global_norm %p, %p : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<f32>
  return
}

// -----

// Rows b are groups of tokens s with k choices; experts e have slots c.
func.func @experts(%there: tensor<2x6xi32>, %p: tensor<2x6x8xf32>, %x: tensor<2x6x4xf32>) {
  // expected-remark @below {{tg.top_k: a b n -> a b k, a b k whole n k}}
  %weights, %chosen = tg.top_k %p k 2 : tensor<2x6x8xf32> -> (tensor<2x6x2xf32>, tensor<2x6x2xi32>)
  // expected-remark @below {{tg.expert_slots: b s k -> b s k, e b c whole s k e c}}
  %slots, %choices = tg.expert_slots %chosen capacity 3 of 8 : tensor<2x6x2xi32> -> (tensor<2x6x2xi32>, tensor<8x2x3xi32>)
  // expected-remark @below {{tg.expert_slots: b s k, b s -> b s k, e b c whole s k e c}}
  %own, %whose = tg.expert_slots %chosen present %there capacity 6 of 8 bound 3 : (tensor<2x6x2xi32>, tensor<2x6xi32>) -> (tensor<2x6x2xi32>, tensor<8x2x6xi32>)
  // expected-remark @below {{tg.dispatch: b s d, b s k, e b c -> e b c d whole s k e c linear {0}}}
  %in = tg.dispatch %x, %slots, %choices : (tensor<2x6x4xf32>, tensor<2x6x2xi32>, tensor<8x2x3xi32>) -> tensor<8x2x3x4xf32>
  // expected-remark @below {{tg.collect: e b c d, b s k, e b c -> b s k d whole e c k linear {0}}}
  %out = tg.collect %in, %slots, %choices : (tensor<8x2x3x4xf32>, tensor<2x6x2xi32>, tensor<8x2x3xi32>) -> tensor<2x6x2x4xf32>
  // expected-remark @below {{tg.load_balance: a b e, a b k -> () reduced a b whole e k decomposed a b}}
  %balance = tg.load_balance %p choices %chosen : (tensor<2x6x8xf32>, tensor<2x6x2xi32>) -> tensor<f32>
  // expected-remark @below {{tg.load_balance: a b e, a b k, a b -> () reduced a b whole e k decomposed a b}}
  %masked = tg.load_balance %p choices %chosen present %there : (tensor<2x6x8xf32>, tensor<2x6x2xi32>, tensor<2x6xi32>) -> tensor<f32>
  // expected-remark @below {{tg.router_z: a b e, a b -> () reduced a b whole e decomposed a b}}
  %maskedZ = tg.router_z %p present %there : (tensor<2x6x8xf32>, tensor<2x6xi32>) -> tensor<f32>
  // expected-remark @below {{tg.router_z: a b e -> () reduced a b whole e decomposed a b}}
  %z = tg.router_z %p : tensor<2x6x8xf32> -> tensor<f32>
  return
}
