// Every op prints as it parses, and the printed form parses to the same.
//
// RUN: braid-opt %s | braid-opt | FileCheck %s
// RUN: braid-opt %s --mlir-print-op-generic | braid-opt | FileCheck %s

// CHECK-LABEL: @arguments
// CHECK-SAME: tg.param = #tg.param<"h.0.w", #tg.init<normal, 0.000000e+00, 2.000000e-02 layers 12>, unit = "h.0", frozen, transposed>
// CHECK-SAME: tg.state = #tg.state<"h.0.w.exp_avg", #tg.init<zeros>, of = "h.0.w", kind = moment>
// CHECK-SAME: tg.state = #tg.state<"acc.h.0.w", #tg.init<zeros>, of = "h.0.w", kind = accumulator, transposed>
// CHECK-SAME: #tg.init<ones>
// CHECK-SAME: #tg.init<constant, 5.000000e-01>
// CHECK-SAME: #tg.init<uniform, -1.000000e-01, 1.000000e-01>
// CHECK-SAME: tg.input = "tokens", tg.role = #tg.role<tokens>
// CHECK-SAME: tensor<f32> {tg.role = #tg.role<loss>}
// CHECK-SAME: tensor<2xf32> {tg.updates = "h.0.w"}
func.func @arguments(
    %a: tensor<2xf32> {tg.param = #tg.param<"h.0.w", #tg.init<normal, 0.0, 0.02 layers 12>, unit = "h.0", frozen, transposed>},
    %b: tensor<2xf32> {tg.state = #tg.state<"h.0.w.exp_avg", #tg.init<zeros>, of = "h.0.w", kind = moment>},
    %c: tensor<2xf32> {tg.state = #tg.state<"acc.h.0.w", #tg.init<zeros>, of = "h.0.w", kind = accumulator, transposed>},
    %d: tensor<2xf32> {tg.param = #tg.param<"d", #tg.init<ones>>},
    %e: tensor<2xf32> {tg.param = #tg.param<"e", #tg.init<constant, 0.5>>},
    %f: tensor<2xf32> {tg.param = #tg.param<"f", #tg.init<uniform, -0.1, 0.1>>},
    %t: tensor<2x4xi32> {tg.input = "tokens", tg.role = #tg.role<tokens>},
    %l: tensor<f32> {tg.input = "lr", tg.role = #tg.role<lr>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<2xf32> {tg.updates = "h.0.w"}, tensor<2xf32> {tg.grad_of = "d"}) {
  return %l, %a, %d : tensor<f32>, tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: @primitives
func.func @primitives(%x: tensor<2x4x8xf32>, %w: tensor<8x16xf32>, %v: tensor<8xf32>, %i: tensor<2x4xi32>, %key: tensor<4xi32>, %o: tensor<i32>) {
  // CHECK: tg.contract "bsd,df->bsf" %{{.*}}, %{{.*}} : (tensor<2x4x8xf32>, tensor<8x16xf32>) -> tensor<2x4x16xf32>
  %0 = tg.contract "bsd,df->bsf" %x, %w : (tensor<2x4x8xf32>, tensor<8x16xf32>) -> tensor<2x4x16xf32>
  // CHECK: tg.contract "d,d->" %{{.*}} : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  %1 = tg.contract "d,d->" %v, %v : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  // CHECK: tg.broadcast %{{.*}} dims [2] : tensor<8xf32> -> tensor<2x4x8xf32>
  %2 = tg.broadcast %v dims [2] : tensor<8xf32> -> tensor<2x4x8xf32>
  // CHECK: tg.reduce sum %{{.*}} dims [0, 2] : tensor<2x4x8xf32> -> tensor<4xf32>
  %3 = tg.reduce sum %x dims [0, 2] : tensor<2x4x8xf32> -> tensor<4xf32>
  // CHECK: tg.reduce max %{{.*}} dims [2]
  %4 = tg.reduce max %x dims [2] : tensor<2x4x8xf32> -> tensor<2x4xf32>
  // CHECK: tg.reduce mean %{{.*}} dims [0, 1, 2] : tensor<2x4x8xf32> -> tensor<f32>
  %5 = tg.reduce mean %x dims [0, 1, 2] : tensor<2x4x8xf32> -> tensor<f32>
  // CHECK: tg.transpose %{{.*}} [2, 0, 1] : tensor<2x4x8xf32> -> tensor<8x2x4xf32>
  %6 = tg.transpose %x [2, 0, 1] : tensor<2x4x8xf32> -> tensor<8x2x4xf32>
  // CHECK: tg.reshape %{{.*}} : tensor<2x4x8xf32> -> tensor<8x8xf32>
  %7 = tg.reshape %x : tensor<2x4x8xf32> -> tensor<8x8xf32>
  // CHECK: tg.slice %{{.*}} dim 2 offset 1 size 3 : tensor<2x4x8xf32> -> tensor<2x4x3xf32>
  %8 = tg.slice %x dim 2 offset 1 size 3 : tensor<2x4x8xf32> -> tensor<2x4x3xf32>
  // CHECK: tg.slice %{{.*}} dim 1 offset 1 size 2 stride 2 : tensor<2x4x8xf32> -> tensor<2x2x8xf32>
  %9 = tg.slice %x dim 1 offset 1 size 2 stride 2 : tensor<2x4x8xf32> -> tensor<2x2x8xf32>
  // CHECK: tg.concat %{{.*}}, %{{.*}} dim 2 : (tensor<2x4x8xf32>, tensor<2x4x3xf32>) -> tensor<2x4x11xf32>
  %10 = tg.concat %x, %8 dim 2 : (tensor<2x4x8xf32>, tensor<2x4x3xf32>) -> tensor<2x4x11xf32>
  // CHECK: tg.reorder %{{.*}} dim 2 order [0, 3, 1, 2] : tensor<2x4x8xf32>
  %reordered = tg.reorder %x dim 2 order [0, 3, 1, 2] : tensor<2x4x8xf32>
  // CHECK: tg.pad %{{.*}} dim 0 low 1 high 2 value {{.*}} : tensor<8xf32> -> tensor<11xf32>
  %11 = tg.pad %v dim 0 low 1 high 2 value 0.0 : tensor<8xf32> -> tensor<11xf32>
  // CHECK: tg.gather %{{.*}}, %{{.*}} : (tensor<8x16xf32>, tensor<2x4xi32>) -> tensor<2x4x16xf32>
  %12 = tg.gather %w, %i : (tensor<8x16xf32>, tensor<2x4xi32>) -> tensor<2x4x16xf32>
  // CHECK: tg.scatter_add %{{.*}}, %{{.*}} : (tensor<2x4xi32>, tensor<2x4x8xf32>) -> tensor<32x8xf32>
  %13 = tg.scatter_add %i, %x : (tensor<2x4xi32>, tensor<2x4x8xf32>) -> tensor<32x8xf32>
  // CHECK: tg.iota dim 1 : tensor<4x8xi32>
  %14 = tg.iota dim 1 : tensor<4x8xi32>
  // CHECK: tg.convert %{{.*}} : tensor<2x4xi32> -> tensor<2x4xbf16>
  %15 = tg.convert %i : tensor<2x4xi32> -> tensor<2x4xbf16>
  // CHECK: tg.random_uniform %{{.*}} stream 3 : tensor<4xi32> -> tensor<2x8xf32>
  %16 = tg.random_uniform %key stream 3 : tensor<4xi32> -> tensor<2x8xf32>
  // CHECK: tg.random_uniform %{{.*}} stream 3 at (%{{.*}}, %{{.*}}) of [8, 16] : (tensor<4xi32>, tensor<i32>, tensor<i32>) -> tensor<2x8xf32>
  %block = tg.random_uniform %key stream 3 at (%o, %o) of [8, 16] : (tensor<4xi32>, tensor<i32>, tensor<i32>) -> tensor<2x8xf32>
  // CHECK: tg.stop_gradient %{{.*}} : tensor<8xf32>
  %17 = tg.stop_gradient %v : tensor<8xf32>
  // CHECK: tg.hook %{{.*}} "h.0.enter" order 1 : tensor<8xf32>
  %18 = tg.hook %v "h.0.enter" order 1 : tensor<8xf32>
  // CHECK: tg.count %{{.*}} ignore -100 : tensor<2x4xi32> -> tensor<f32>
  %19 = tg.count %i ignore -100 : tensor<2x4xi32> -> tensor<f32>
  // CHECK: tg.count %{{.*}} ignore -100 as 2.500000e-01 : tensor<2x4xi32> -> tensor<f32>
  %20 = tg.count %i ignore -100 as 0.25 : tensor<2x4xi32> -> tensor<f32>
  return
}

// CHECK-LABEL: @activations
func.func @activations(%x: tensor<4x8xbf16>, %key: tensor<4xi32>) {
  // CHECK: tg.gelu tanh %{{.*}} : tensor<4x8xbf16>
  %0 = tg.gelu tanh %x : tensor<4x8xbf16>
  // CHECK: tg.gelu erf %{{.*}} : tensor<4x8xbf16>
  %1 = tg.gelu erf %x : tensor<4x8xbf16>
  // CHECK: tg.gelu_grad erf %{{.*}}, %{{.*}} : tensor<4x8xbf16>
  %2 = tg.gelu_grad erf %x, %1 : tensor<4x8xbf16>
  // CHECK: tg.silu %{{.*}} : tensor<4x8xbf16>
  %3 = tg.silu %x : tensor<4x8xbf16>
  // CHECK: tg.silu_grad %{{.*}}, %{{.*}} : tensor<4x8xbf16>
  %4 = tg.silu_grad %x, %3 : tensor<4x8xbf16>
  // CHECK: tg.dropout %{{.*}}, %{{.*}} rate 1.000000e-01 stream 3 : (tensor<4x8xbf16>, tensor<4xi32>) -> tensor<4x8xbf16>
  %5 = tg.dropout %x, %key rate 0.1 stream 3 : (tensor<4x8xbf16>, tensor<4xi32>) -> tensor<4x8xbf16>
  // CHECK: tg.softmax %{{.*}} : tensor<4x8xbf16>
  %6 = tg.softmax %x : tensor<4x8xbf16>
  // CHECK: tg.softmax_grad %{{.*}}, %{{.*}} : tensor<4x8xbf16>
  %7 = tg.softmax_grad %6, %x : tensor<4x8xbf16>
  // CHECK: tg.relu %{{.*}} : tensor<4x8xbf16>
  %8 = tg.relu %x : tensor<4x8xbf16>
  return
}

// CHECK-LABEL: @norms
func.func @norms(%x: tensor<4x8xf64>, %w: tensor<8xf64>) {
  // CHECK: tg.layer_norm %{{.*}}, %{{.*}}, %{{.*}} eps 1.000000e-05 : (tensor<4x8xf64>, tensor<8xf64>, tensor<8xf64>) -> (tensor<4x8xf64>, tensor<4xf64>, tensor<4xf64>)
  %y, %mean, %rstd = tg.layer_norm %x, %w, %w eps 1.0e-5
      : (tensor<4x8xf64>, tensor<8xf64>, tensor<8xf64>) -> (tensor<4x8xf64>, tensor<4xf64>, tensor<4xf64>)
  // CHECK: tg.layer_norm %{{[^,]*}}, %{{[^,]*}} eps 1.000000e-05 : (tensor<4x8xf64>, tensor<8xf64>) ->
  %y2, %mean2, %rstd2 = tg.layer_norm %x, %w eps 1.0e-5
      : (tensor<4x8xf64>, tensor<8xf64>) -> (tensor<4x8xf64>, tensor<4xf64>, tensor<4xf64>)
  // CHECK: tg.layer_norm_grad %{{.*}} -> (tensor<4x8xf64>, tensor<8xf64>, tensor<8xf64>)
  %dx, %dw, %db = tg.layer_norm_grad %x, %w, %mean, %rstd, %y
      : (tensor<4x8xf64>, tensor<8xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4x8xf64>) -> (tensor<4x8xf64>, tensor<8xf64>, tensor<8xf64>)
  // CHECK: tg.rms_norm %{{.*}}, %{{.*}} eps {{.*}} : (tensor<4x8xf64>, tensor<8xf64>) -> (tensor<4x8xf64>, tensor<4xf64>)
  %z, %rrms = tg.rms_norm %x, %w eps 1.0e-6 : (tensor<4x8xf64>, tensor<8xf64>) -> (tensor<4x8xf64>, tensor<4xf64>)
  // CHECK: tg.rms_norm_grad %{{.*}} -> (tensor<4x8xf64>, tensor<8xf64>)
  %dx2, %dw2 = tg.rms_norm_grad %x, %w, %rrms, %z
      : (tensor<4x8xf64>, tensor<8xf64>, tensor<4xf64>, tensor<4x8xf64>) -> (tensor<4x8xf64>, tensor<8xf64>)
  // CHECK: tg.rms_norm %{{.*}}, %{{.*}} eps {{.*}} offset 1.000000e+00 : (tensor<4x8xf64>, tensor<8xf64>)
  %z1, %rrms1 = tg.rms_norm %x, %w eps 1.0e-6 offset 1.0 : (tensor<4x8xf64>, tensor<8xf64>) -> (tensor<4x8xf64>, tensor<4xf64>)
  // CHECK: tg.rms_norm_grad %{{.*}} offset 1.000000e+00 : (tensor<4x8xf64>,
  %dx3, %dw3 = tg.rms_norm_grad %x, %w, %rrms, %z offset 1.0
      : (tensor<4x8xf64>, tensor<8xf64>, tensor<4xf64>, tensor<4x8xf64>) -> (tensor<4x8xf64>, tensor<8xf64>)
  return
}

// CHECK-LABEL: @attention
func.func @attention(%q: tensor<2x8x4x4xf32>, %k: tensor<2x8x2x4xf32>, %v: tensor<2x8x2x4xf32>, %documents: tensor<2x8xi32>, %random: tensor<4xi32>,
                     %part: tensor<2x4x4x4xf32>, %first: tensor<i32>) {
  // CHECK: tg.attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} at %[[FIRST:.*]], %[[FIRST]] scale 5.000000e-01 causal window 4 : (tensor<2x4x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8xi32>, tensor<i32>, tensor<i32>)
  %o8, %lse8 = tg.attention %part, %k, %v, %documents at %first, %first scale 0.5 causal window 4
    : (tensor<2x4x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8xi32>, tensor<i32>, tensor<i32>) -> (tensor<2x4x4x4xf32>, tensor<2x4x4xf32>)
  // CHECK: tg.attention_grad %{{.*}} at %[[FIRST]], %[[FIRST]] scale 5.000000e-01 causal :
  %dq8, %dk8, %dv8 = tg.attention_grad %part, %k, %v, %o8, %lse8, %o8 at %first, %first scale 0.5 causal
    : (tensor<2x4x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x4x4x4xf32>, tensor<2x4x4xf32>, tensor<2x4x4x4xf32>, tensor<i32>, tensor<i32>) -> (tensor<2x4x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>)
  // CHECK: tg.attention %{{.*}} scale 5.000000e-01 causal : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
  %o, %lse = tg.attention %q, %k, %v scale 0.5 causal
      : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
  // CHECK: tg.attention %{{.*}} scale 5.000000e-01 :
  %o2, %lse2 = tg.attention %q, %k, %v scale 0.5
      : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
  // CHECK: tg.attention %{{.*}} scale 5.000000e-01 causal window 4 softcap 3.000000e+01 :
  %o3, %lse3 = tg.attention %q, %k, %v scale 0.5 causal window 4 softcap 30.0
      : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
  // CHECK: tg.attention %{{.*}} scale 5.000000e-01 causal window 3 offset 0 {note = [#tg.mask<>, #tg.mask<causal offset 2>]} :
  %o4, %lse4 = tg.attention %q, %k, %v scale 0.5 causal window 3 offset 0 {note = [#tg.mask<>, #tg.mask<causal offset 2>]}
      : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
  // CHECK: tg.attention %{{.*}}, %[[DOCUMENTS:.*]] scale 5.000000e-01 causal : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8xi32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
  %o5, %lse5 = tg.attention %q, %k, %v, %documents scale 0.5 causal
      : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8xi32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
  // CHECK: tg.attention_grad %{{.*}}, %[[DOCUMENTS]] scale 5.000000e-01 causal : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x4x4xf32>, tensor<2x4x8xf32>, tensor<2x8x4x4xf32>, tensor<2x8xi32>)
  %dq5, %dk5, %dv5 = tg.attention_grad %q, %k, %v, %o5, %lse5, %o5, %documents scale 0.5 causal
      : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x4x4xf32>, tensor<2x4x8xf32>, tensor<2x8x4x4xf32>, tensor<2x8xi32>) -> (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>)
  // CHECK: tg.dropout_attention %{{.*}} scale 5.000000e-01 causal window 4 rate 1.000000e-01 stream 3 : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<4xi32>) -> tensor<2x8x4x4xf32>
  %o6 = tg.dropout_attention %q, %k, %v, %random scale 0.5 causal window 4 rate 0.1 stream 3
      : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<4xi32>) -> tensor<2x8x4x4xf32>
  // CHECK: tg.dropout_attention %{{.*}}, %[[DOCUMENTS]] scale 5.000000e-01 rate 1.000000e-01 stream 4 :
  %o7 = tg.dropout_attention %q, %k, %v, %random, %documents scale 0.5 rate 0.1 stream 4
      : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<4xi32>, tensor<2x8xi32>) -> tensor<2x8x4x4xf32>
  // CHECK: tg.attention_grad %{{.*}} scale 5.000000e-01 causal : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x4x4xf32>, tensor<2x4x8xf32>, tensor<2x8x4x4xf32>) ->
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %o scale 0.5 causal
      : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x4x4xf32>, tensor<2x4x8xf32>, tensor<2x8x4x4xf32>)
      -> (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>)
  // CHECK: tg.rope %{{.*}} theta 1.000000e+04 : tensor<2x8x4x4xf32>
  %r = tg.rope %q theta 1.0e4 : tensor<2x8x4x4xf32>
  // CHECK: tg.rope %{{.*}} theta 1.000000e+04 inverse : tensor<2x8x4x4xf32>
  %s = tg.rope %q theta 1.0e4 inverse : tensor<2x8x4x4xf32>
  // CHECK: tg.rope %{{.*}} theta 1.000000e+04 dims 2 linear 8.000000e+00 inverse : tensor<2x8x4x4xf32>
  %linear = tg.rope %q theta 1.0e4 dims 2 linear 8.0 inverse : tensor<2x8x4x4xf32>
  // CHECK: tg.rope %{{.*}} theta 5.000000e+05 llama3 8.000000e+00 low 1.000000e+00 high 4.000000e+00 positions 8192 : tensor<2x8x4x4xf32>
  %llama3 = tg.rope %q theta 5.0e5 llama3 8.0 low 1.0 high 4.0 positions 8192 : tensor<2x8x4x4xf32>
  // CHECK: tg.rope %{{.*}} theta 1.000000e+04 linear 2.000000e+00 : tensor<2x8x4x4xf32>
  %generic = "tg.rope"(%q) <{theta = 1.0e4 : f64, scaling = #tg.rope_scaling<linear 2.0>}> : (tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
  return
}

// CHECK-LABEL: @loss
func.func @loss(%logits: tensor<2x4x8xf32>, %targets: tensor<2x4xi64>) {
  // CHECK: tg.cross_entropy mean %{{.*}}, %{{.*}} ignore -100 : (tensor<2x4x8xf32>, tensor<2x4xi64>) -> (tensor<f32>, tensor<2x4xf32>)
  %loss, %lse = tg.cross_entropy mean %logits, %targets ignore -100
      : (tensor<2x4x8xf32>, tensor<2x4xi64>) -> (tensor<f32>, tensor<2x4xf32>)
  // CHECK: tg.cross_entropy_grad sum %{{.*}} ignore 0 :
  %d = tg.cross_entropy_grad sum %logits, %targets, %lse, %loss ignore 0
      : (tensor<2x4x8xf32>, tensor<2x4xi64>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x4x8xf32>
  return
}

// CHECK-LABEL: @optimizers
func.func @optimizers(%p: tensor<8xf32>, %g: tensor<8xf32>, %m: tensor<8xf32>, %lr: tensor<f32>, %step: tensor<i32>) {
  // CHECK: tg.update "nesterov" %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} states %{{[a-z0-9]+}} {momentum = 9.000000e-01 : f64, weight_decay = 0.000000e+00 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %p1, %m1 = tg.update "nesterov" %p, %g, %lr states %m {momentum = 0.9, weight_decay = 0.0}
      : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  // CHECK: tg.update "sgd" %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} {weight_decay = 1.000000e-01 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %p2 = tg.update "sgd" %p, %g, %lr {weight_decay = 0.1} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  // CHECK: tg.update "adamw" %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} states %{{[a-z0-9]+}}, %{{[a-z0-9]+}} {beta1 = 9.000000e-01 : f64, beta2 = {{.*}}, eps = 1.000000e-08 : f64, weight_decay = 1.000000e-01 : f64} :
  %p3, %m3, %v3 = tg.update "adamw" %p, %g, %lr, %step states %m, %m {beta1 = 0.9, beta2 = 0.95, eps = 1.0e-8, weight_decay = 0.1}
      : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<i32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  // CHECK: %[[CODES:.*]], %[[SCALES:.*]] = tg.quantize %{{.*}} at %{{.*}} block 4 : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xi8>, tensor<2xf32>)
  %codes, %scales = tg.quantize %p at %g block 4 : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xi8>, tensor<2xf32>)
  // CHECK: tg.dequantize %[[CODES]], %[[SCALES]] : (tensor<8xi8>, tensor<2xf32>) -> tensor<8xf32>
  %decoded = tg.dequantize %codes, %scales : (tensor<8xi8>, tensor<2xf32>) -> tensor<8xf32>
  // CHECK: tg.global_norm %{{.*}}, %{{.*}} : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  %n = tg.global_norm %p, %g : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  return
}

// CHECK-LABEL: @experts
func.func @experts(%there: tensor<2x6xi32>, %p: tensor<2x6x8xf32>, %x: tensor<2x6x4xf32>, %n: tensor<2x6x4xbf16>, %r: tensor<8x4xbf16>) {
  // CHECK: %[[WEIGHTS:.*]], %[[CHOSEN:.*]] = tg.top_k %{{.*}} k 2 : tensor<2x6x8xf32> -> (tensor<2x6x2xf32>, tensor<2x6x2xi32>)
  %weights, %chosen = tg.top_k %p k 2 : tensor<2x6x8xf32> -> (tensor<2x6x2xf32>, tensor<2x6x2xi32>)
  // CHECK: %[[SLOTS:.*]], %[[CHOICES:.*]] = tg.expert_slots %[[CHOSEN]] capacity 3 of 8 : tensor<2x6x2xi32> -> (tensor<2x6x2xi32>, tensor<8x2x3xi32>)
  %slots, %choices = tg.expert_slots %chosen capacity 3 of 8 : tensor<2x6x2xi32> -> (tensor<2x6x2xi32>, tensor<8x2x3xi32>)
  // CHECK: tg.expert_slots %[[CHOSEN]] present %{{.*}} capacity 6 of 8 bound 2 : (tensor<2x6x2xi32>, tensor<2x6xi32>) -> (tensor<2x6x2xi32>, tensor<8x2x6xi32>)
  %bounded, %whose = tg.expert_slots %chosen present %there capacity 6 of 8 bound 2 : (tensor<2x6x2xi32>, tensor<2x6xi32>) -> (tensor<2x6x2xi32>, tensor<8x2x6xi32>)
  // CHECK: tg.dispatch %{{.*}}, %[[SLOTS]], %[[CHOICES]] : (tensor<2x6x4xf32>, tensor<2x6x2xi32>, tensor<8x2x3xi32>) -> tensor<8x2x3x4xf32>
  %in = tg.dispatch %x, %slots, %choices : (tensor<2x6x4xf32>, tensor<2x6x2xi32>, tensor<8x2x3xi32>) -> tensor<8x2x3x4xf32>
  // CHECK: tg.collect %{{.*}}, %[[SLOTS]], %[[CHOICES]] : (tensor<8x2x3x4xf32>, tensor<2x6x2xi32>, tensor<8x2x3xi32>) -> tensor<2x6x2x4xf32>
  %out = tg.collect %in, %slots, %choices : (tensor<8x2x3x4xf32>, tensor<2x6x2xi32>, tensor<8x2x3xi32>) -> tensor<2x6x2x4xf32>
  // CHECK: tg.load_balance %{{.*}}, %{{.*}} choices %[[CHOSEN]], %[[CHOSEN]] :
  %balance = tg.load_balance %p, %p choices %chosen, %chosen
      : (tensor<2x6x8xf32>, tensor<2x6x8xf32>, tensor<2x6x2xi32>, tensor<2x6x2xi32>) -> tensor<f32>
  // CHECK: tg.load_balance %{{.*}} choices %[[CHOSEN]] present %{{.*}} : (tensor<2x6x8xf32>, tensor<2x6x2xi32>, tensor<2x6xi32>) -> tensor<f32>
  %masked = tg.load_balance %p choices %chosen present %there : (tensor<2x6x8xf32>, tensor<2x6x2xi32>, tensor<2x6xi32>) -> tensor<f32>
  // CHECK: tg.router_z %{{.*}} present %{{.*}} : (tensor<2x6x8xf32>, tensor<2x6xi32>) -> tensor<f32>
  %maskedZ = tg.router_z %p present %there : (tensor<2x6x8xf32>, tensor<2x6xi32>) -> tensor<f32>
  // CHECK: tg.router_z %{{.*}} : tensor<2x6x8xf32> -> tensor<f32>
  %z = tg.router_z %p : tensor<2x6x8xf32> -> tensor<f32>
  // CHECK: tg.contract "bsd,ed->bse" %{{.*}}, %{{.*}} wide : (tensor<2x6x4xbf16>, tensor<8x4xbf16>) -> tensor<2x6x8xf32>
  %logits = tg.contract "bsd,ed->bse" %n, %r wide : (tensor<2x6x4xbf16>, tensor<8x4xbf16>) -> tensor<2x6x8xf32>
  return
}
