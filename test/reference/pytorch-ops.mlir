// Ops and their gradients equal PyTorch's, in f64 (see test/goldens/README.md).
//
// RUN: braid-interp %s --inputs=%goldens/ops.safetensors --expect=%goldens/ops.safetensors --prefix=@/ --arithmetic=f64 \
// RUN:   --pipeline-before="tg-differentiate{function=gelu_tanh root=0},\
// RUN:     tg-differentiate{function=gelu_erf root=0},\
// RUN:     tg-differentiate{function=silu root=0},\
// RUN:     tg-differentiate{function=softmax root=0},\
// RUN:     tg-differentiate{function=layer_norm root=0},\
// RUN:     tg-differentiate{function=rms_norm root=0},\
// RUN:     tg-differentiate{function=attention_full root=0},\
// RUN:     tg-differentiate{function=attention_causal root=0},\
// RUN:     tg-differentiate{function=attention_grouped root=0},\
// RUN:     tg-differentiate{function=attention_window root=0},\
// RUN:     tg-differentiate{function=attention_softcap root=0},\
// RUN:     tg-differentiate{function=attention_documents root=0},\
// RUN:     tg-differentiate{function=rope root=0},\
// RUN:     tg-differentiate{function=cross_entropy_mean root=0},\
// RUN:     tg-differentiate{function=cross_entropy_sum root=0}" | FileCheck %s

// CHECK: 'gelu_tanh': 2 results agree
func.func @gelu_tanh(%x: tensor<3x11xf64> {tg.input = "x", tg.grad},
                     %dy: tensor<3x11xf64> {tg.input = "dy", tg.seed = 0})
    -> (tensor<3x11xf64> {tg.output = "y"}) {
  %y = tg.gelu tanh %x : tensor<3x11xf64>
  return %y : tensor<3x11xf64>
}

// CHECK: 'gelu_erf': 2 results agree
func.func @gelu_erf(%x: tensor<3x11xf64> {tg.input = "x", tg.grad},
                    %dy: tensor<3x11xf64> {tg.input = "dy", tg.seed = 0})
    -> (tensor<3x11xf64> {tg.output = "y"}) {
  %y = tg.gelu erf %x : tensor<3x11xf64>
  return %y : tensor<3x11xf64>
}

// CHECK: 'silu': 2 results agree
func.func @silu(%x: tensor<3x11xf64> {tg.input = "x", tg.grad},
                %dy: tensor<3x11xf64> {tg.input = "dy", tg.seed = 0})
    -> (tensor<3x11xf64> {tg.output = "y"}) {
  %y = tg.silu %x : tensor<3x11xf64>
  return %y : tensor<3x11xf64>
}

// CHECK: 'softmax': 2 results agree
func.func @softmax(%x: tensor<3x11xf64> {tg.input = "x", tg.grad},
                   %dy: tensor<3x11xf64> {tg.input = "dy", tg.seed = 0})
    -> (tensor<3x11xf64> {tg.output = "y"}) {
  %y = tg.softmax %x : tensor<3x11xf64>
  return %y : tensor<3x11xf64>
}

// CHECK: 'layer_norm': 6 results agree
func.func @layer_norm(%x: tensor<2x3x7xf64> {tg.input = "x", tg.grad},
                      %weight: tensor<7xf64> {tg.input = "weight", tg.grad},
                      %bias: tensor<7xf64> {tg.input = "bias", tg.grad},
                      %dy: tensor<2x3x7xf64> {tg.input = "dy", tg.seed = 0})
    -> (tensor<2x3x7xf64> {tg.output = "y"}, tensor<2x3xf64> {tg.output = "mean"}, tensor<2x3xf64> {tg.output = "rstd"}) {
  %y, %mean, %rstd = tg.layer_norm %x, %weight, %bias eps 1.0e-5 : (tensor<2x3x7xf64>, tensor<7xf64>, tensor<7xf64>) -> (tensor<2x3x7xf64>, tensor<2x3xf64>, tensor<2x3xf64>)
  return %y, %mean, %rstd : tensor<2x3x7xf64>, tensor<2x3xf64>, tensor<2x3xf64>
}

// CHECK: 'rms_norm': 4 results agree
func.func @rms_norm(%x: tensor<2x3x7xf64> {tg.input = "x", tg.grad},
                    %weight: tensor<7xf64> {tg.input = "weight", tg.grad},
                    %dy: tensor<2x3x7xf64> {tg.input = "dy", tg.seed = 0})
    -> (tensor<2x3x7xf64> {tg.output = "y"}, tensor<2x3xf64> {tg.output = "rstd"}) {
  %y, %rstd = tg.rms_norm %x, %weight eps 1.0e-5 : (tensor<2x3x7xf64>, tensor<7xf64>) -> (tensor<2x3x7xf64>, tensor<2x3xf64>)
  return %y, %rstd : tensor<2x3x7xf64>, tensor<2x3xf64>
}

// CHECK: 'attention_full': 5 results agree
func.func @attention_full(%q: tensor<2x5x2x4xf64> {tg.input = "q", tg.grad},
                          %k: tensor<2x5x2x4xf64> {tg.input = "k", tg.grad},
                          %v: tensor<2x5x2x4xf64> {tg.input = "v", tg.grad},
                          %dy: tensor<2x5x2x4xf64> {tg.input = "dy", tg.seed = 0})
    -> (tensor<2x5x2x4xf64> {tg.output = "y"}, tensor<2x2x5xf64> {tg.output = "lse"}) {
  %y, %lse = tg.attention %q, %k, %v scale 0.5 : (tensor<2x5x2x4xf64>, tensor<2x5x2x4xf64>, tensor<2x5x2x4xf64>) -> (tensor<2x5x2x4xf64>, tensor<2x2x5xf64>)
  return %y, %lse : tensor<2x5x2x4xf64>, tensor<2x2x5xf64>
}

// CHECK: 'attention_causal': 5 results agree
func.func @attention_causal(%q: tensor<2x5x2x4xf64> {tg.input = "q", tg.grad},
                            %k: tensor<2x5x2x4xf64> {tg.input = "k", tg.grad},
                            %v: tensor<2x5x2x4xf64> {tg.input = "v", tg.grad},
                            %dy: tensor<2x5x2x4xf64> {tg.input = "dy", tg.seed = 0})
    -> (tensor<2x5x2x4xf64> {tg.output = "y"}, tensor<2x2x5xf64> {tg.output = "lse"}) {
  %y, %lse = tg.attention %q, %k, %v scale 0.5 causal : (tensor<2x5x2x4xf64>, tensor<2x5x2x4xf64>, tensor<2x5x2x4xf64>) -> (tensor<2x5x2x4xf64>, tensor<2x2x5xf64>)
  return %y, %lse : tensor<2x5x2x4xf64>, tensor<2x2x5xf64>
}

// CHECK: 'attention_grouped': 5 results agree
func.func @attention_grouped(%q: tensor<2x5x4x4xf64> {tg.input = "q", tg.grad},
                             %k: tensor<2x5x2x4xf64> {tg.input = "k", tg.grad},
                             %v: tensor<2x5x2x4xf64> {tg.input = "v", tg.grad},
                             %dy: tensor<2x5x4x4xf64> {tg.input = "dy", tg.seed = 0})
    -> (tensor<2x5x4x4xf64> {tg.output = "y"}, tensor<2x4x5xf64> {tg.output = "lse"}) {
  %y, %lse = tg.attention %q, %k, %v scale 0.3 causal : (tensor<2x5x4x4xf64>, tensor<2x5x2x4xf64>, tensor<2x5x2x4xf64>) -> (tensor<2x5x4x4xf64>, tensor<2x4x5xf64>)
  return %y, %lse : tensor<2x5x4x4xf64>, tensor<2x4x5xf64>
}

// CHECK: 'attention_window': 5 results agree
func.func @attention_window(%q: tensor<2x5x2x4xf64> {tg.input = "q", tg.grad},
                            %k: tensor<2x5x1x4xf64> {tg.input = "k", tg.grad},
                            %v: tensor<2x5x1x4xf64> {tg.input = "v", tg.grad},
                            %dy: tensor<2x5x2x4xf64> {tg.input = "dy", tg.seed = 0})
    -> (tensor<2x5x2x4xf64> {tg.output = "y"}, tensor<2x2x5xf64> {tg.output = "lse"}) {
  %y, %lse = tg.attention %q, %k, %v scale 0.5 causal window 2 : (tensor<2x5x2x4xf64>, tensor<2x5x1x4xf64>, tensor<2x5x1x4xf64>) -> (tensor<2x5x2x4xf64>, tensor<2x2x5xf64>)
  return %y, %lse : tensor<2x5x2x4xf64>, tensor<2x2x5xf64>
}

// CHECK: 'attention_softcap': 5 results agree
func.func @attention_softcap(%q: tensor<2x5x4x4xf64> {tg.input = "q", tg.grad},
                             %k: tensor<2x5x2x4xf64> {tg.input = "k", tg.grad},
                             %v: tensor<2x5x2x4xf64> {tg.input = "v", tg.grad},
                             %dy: tensor<2x5x4x4xf64> {tg.input = "dy", tg.seed = 0})
    -> (tensor<2x5x4x4xf64> {tg.output = "y"}, tensor<2x4x5xf64> {tg.output = "lse"}) {
  %y, %lse = tg.attention %q, %k, %v scale 1.0 causal window 3 softcap 0.8 : (tensor<2x5x4x4xf64>, tensor<2x5x2x4xf64>, tensor<2x5x2x4xf64>) -> (tensor<2x5x4x4xf64>, tensor<2x4x5xf64>)
  return %y, %lse : tensor<2x5x4x4xf64>, tensor<2x4x5xf64>
}

// CHECK: 'attention_documents': 5 results agree
func.func @attention_documents(%q: tensor<2x5x2x4xf64> {tg.input = "q", tg.grad},
                               %k: tensor<2x5x1x4xf64> {tg.input = "k", tg.grad},
                               %v: tensor<2x5x1x4xf64> {tg.input = "v", tg.grad},
                               %documents: tensor<2x5xi32> {tg.input = "documents"},
                               %dy: tensor<2x5x2x4xf64> {tg.input = "dy", tg.seed = 0})
    -> (tensor<2x5x2x4xf64> {tg.output = "y"}, tensor<2x2x5xf64> {tg.output = "lse"}) {
  %y, %lse = tg.attention %q, %k, %v, %documents scale 0.5 causal : (tensor<2x5x2x4xf64>, tensor<2x5x1x4xf64>, tensor<2x5x1x4xf64>, tensor<2x5xi32>) -> (tensor<2x5x2x4xf64>, tensor<2x2x5xf64>)
  return %y, %lse : tensor<2x5x2x4xf64>, tensor<2x2x5xf64>
}

// CHECK: 'rope': 2 results agree
func.func @rope(%x: tensor<2x5x3x8xf64> {tg.input = "x", tg.grad},
                %dy: tensor<2x5x3x8xf64> {tg.input = "dy", tg.seed = 0})
    -> (tensor<2x5x3x8xf64> {tg.output = "y"}) {
  %y = tg.rope %x theta 1.0e4 : tensor<2x5x3x8xf64>
  return %y : tensor<2x5x3x8xf64>
}

// CHECK: 'cross_entropy_mean': 3 results agree
func.func @cross_entropy_mean(%logits: tensor<2x3x9xf64> {tg.input = "logits", tg.grad},
                              %targets: tensor<2x3xi32> {tg.input = "targets"},
                              %dy: tensor<f64> {tg.input = "dy", tg.seed = 0})
    -> (tensor<f64> {tg.output = "y"}, tensor<2x3xf64> {tg.output = "lse"}) {
  %y, %lse = tg.cross_entropy mean %logits, %targets ignore -100 : (tensor<2x3x9xf64>, tensor<2x3xi32>) -> (tensor<f64>, tensor<2x3xf64>)
  return %y, %lse : tensor<f64>, tensor<2x3xf64>
}

// CHECK: 'cross_entropy_sum': 3 results agree
func.func @cross_entropy_sum(%logits: tensor<2x3x9xf64> {tg.input = "logits", tg.grad},
                             %targets: tensor<2x3xi32> {tg.input = "targets"},
                             %dy: tensor<f64> {tg.input = "dy", tg.seed = 0})
    -> (tensor<f64> {tg.output = "y"}, tensor<2x3xf64> {tg.output = "lse"}) {
  %y, %lse = tg.cross_entropy sum %logits, %targets ignore -100 : (tensor<2x3x9xf64>, tensor<2x3xi32>) -> (tensor<f64>, tensor<2x3xf64>)
  return %y, %lse : tensor<f64>, tensor<2x3xf64>
}

// CHECK: 'sgd': 3 results agree
func.func @sgd(%p0: tensor<2x3xf64> {tg.input = "p0"},
               %g1: tensor<2x3xf64> {tg.input = "g1"},
               %g2: tensor<2x3xf64> {tg.input = "g2"},
               %g3: tensor<2x3xf64> {tg.input = "g3"})
    -> (tensor<2x3xf64> {tg.output = "p1"}, tensor<2x3xf64> {tg.output = "p2"}, tensor<2x3xf64> {tg.output = "p3"}) {
  %lr = arith.constant dense<0.1> : tensor<f64>
  %p1 = tg.update "sgd" %p0, %g1, %lr {weight_decay = 0.2} : (tensor<2x3xf64>, tensor<2x3xf64>, tensor<f64>) -> tensor<2x3xf64>
  %p2 = tg.update "sgd" %p1, %g2, %lr {weight_decay = 0.2} : (tensor<2x3xf64>, tensor<2x3xf64>, tensor<f64>) -> tensor<2x3xf64>
  %p3 = tg.update "sgd" %p2, %g3, %lr {weight_decay = 0.2} : (tensor<2x3xf64>, tensor<2x3xf64>, tensor<f64>) -> tensor<2x3xf64>
  return %p1, %p2, %p3 : tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>
}

// CHECK: 'sgd_momentum': 3 results agree
func.func @sgd_momentum(%p0: tensor<2x3xf64> {tg.input = "p0"},
                        %g1: tensor<2x3xf64> {tg.input = "g1"},
                        %g2: tensor<2x3xf64> {tg.input = "g2"},
                        %g3: tensor<2x3xf64> {tg.input = "g3"})
    -> (tensor<2x3xf64> {tg.output = "p1"}, tensor<2x3xf64> {tg.output = "p2"}, tensor<2x3xf64> {tg.output = "p3"}) {
  %lr = arith.constant dense<0.1> : tensor<f64>
  %m0 = arith.constant dense<0.0> : tensor<2x3xf64>
  %p1, %m1 = tg.update "momentum" %p0, %g1, %lr states %m0 {momentum = 0.9, weight_decay = 0.2} : (tensor<2x3xf64>, tensor<2x3xf64>, tensor<f64>, tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>)
  %p2, %m2 = tg.update "momentum" %p1, %g2, %lr states %m1 {momentum = 0.9, weight_decay = 0.2} : (tensor<2x3xf64>, tensor<2x3xf64>, tensor<f64>, tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>)
  %p3, %m3 = tg.update "momentum" %p2, %g3, %lr states %m2 {momentum = 0.9, weight_decay = 0.2} : (tensor<2x3xf64>, tensor<2x3xf64>, tensor<f64>, tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>)
  return %p1, %p2, %p3 : tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>
}

// CHECK: 'sgd_nesterov': 3 results agree
func.func @sgd_nesterov(%p0: tensor<2x3xf64> {tg.input = "p0"},
                        %g1: tensor<2x3xf64> {tg.input = "g1"},
                        %g2: tensor<2x3xf64> {tg.input = "g2"},
                        %g3: tensor<2x3xf64> {tg.input = "g3"})
    -> (tensor<2x3xf64> {tg.output = "p1"}, tensor<2x3xf64> {tg.output = "p2"}, tensor<2x3xf64> {tg.output = "p3"}) {
  %lr = arith.constant dense<0.1> : tensor<f64>
  %m0 = arith.constant dense<0.0> : tensor<2x3xf64>
  %p1, %m1 = tg.update "nesterov" %p0, %g1, %lr states %m0 {momentum = 0.9, weight_decay = 0.2} : (tensor<2x3xf64>, tensor<2x3xf64>, tensor<f64>, tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>)
  %p2, %m2 = tg.update "nesterov" %p1, %g2, %lr states %m1 {momentum = 0.9, weight_decay = 0.2} : (tensor<2x3xf64>, tensor<2x3xf64>, tensor<f64>, tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>)
  %p3, %m3 = tg.update "nesterov" %p2, %g3, %lr states %m2 {momentum = 0.9, weight_decay = 0.2} : (tensor<2x3xf64>, tensor<2x3xf64>, tensor<f64>, tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>)
  return %p1, %p2, %p3 : tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>
}

// CHECK: 'adam': 3 results agree
func.func @adam(%p0: tensor<2x3xf64> {tg.input = "p0"},
                %g1: tensor<2x3xf64> {tg.input = "g1"},
                %g2: tensor<2x3xf64> {tg.input = "g2"},
                %g3: tensor<2x3xf64> {tg.input = "g3"})
    -> (tensor<2x3xf64> {tg.output = "p1"}, tensor<2x3xf64> {tg.output = "p2"}, tensor<2x3xf64> {tg.output = "p3"}) {
  %lr = arith.constant dense<0.1> : tensor<f64>
  %m0 = arith.constant dense<0.0> : tensor<2x3xf64>
  %v0 = arith.constant dense<0.0> : tensor<2x3xf64>
  %t1 = arith.constant dense<1> : tensor<i32>
  %p1, %m1, %v1 = tg.update "adam" %p0, %g1, %lr, %t1 states %m0, %v0 {beta1 = 0.8, beta2 = 0.9, eps = 1.0e-3, weight_decay = 0.2} : (tensor<2x3xf64>, tensor<2x3xf64>, tensor<f64>, tensor<i32>, tensor<2x3xf64>, tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>)
  %t2 = arith.constant dense<2> : tensor<i32>
  %p2, %m2, %v2 = tg.update "adam" %p1, %g2, %lr, %t2 states %m1, %v1 {beta1 = 0.8, beta2 = 0.9, eps = 1.0e-3, weight_decay = 0.2} : (tensor<2x3xf64>, tensor<2x3xf64>, tensor<f64>, tensor<i32>, tensor<2x3xf64>, tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>)
  %t3 = arith.constant dense<3> : tensor<i32>
  %p3, %m3, %v3 = tg.update "adam" %p2, %g3, %lr, %t3 states %m2, %v2 {beta1 = 0.8, beta2 = 0.9, eps = 1.0e-3, weight_decay = 0.2} : (tensor<2x3xf64>, tensor<2x3xf64>, tensor<f64>, tensor<i32>, tensor<2x3xf64>, tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>)
  return %p1, %p2, %p3 : tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>
}

// CHECK: 'adamw': 3 results agree
func.func @adamw(%p0: tensor<2x3xf64> {tg.input = "p0"},
                 %g1: tensor<2x3xf64> {tg.input = "g1"},
                 %g2: tensor<2x3xf64> {tg.input = "g2"},
                 %g3: tensor<2x3xf64> {tg.input = "g3"})
    -> (tensor<2x3xf64> {tg.output = "p1"}, tensor<2x3xf64> {tg.output = "p2"}, tensor<2x3xf64> {tg.output = "p3"}) {
  %lr = arith.constant dense<0.1> : tensor<f64>
  %m0 = arith.constant dense<0.0> : tensor<2x3xf64>
  %v0 = arith.constant dense<0.0> : tensor<2x3xf64>
  %t1 = arith.constant dense<1> : tensor<i32>
  %p1, %m1, %v1 = tg.update "adamw" %p0, %g1, %lr, %t1 states %m0, %v0 {beta1 = 0.8, beta2 = 0.9, eps = 1.0e-3, weight_decay = 0.2} : (tensor<2x3xf64>, tensor<2x3xf64>, tensor<f64>, tensor<i32>, tensor<2x3xf64>, tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>)
  %t2 = arith.constant dense<2> : tensor<i32>
  %p2, %m2, %v2 = tg.update "adamw" %p1, %g2, %lr, %t2 states %m1, %v1 {beta1 = 0.8, beta2 = 0.9, eps = 1.0e-3, weight_decay = 0.2} : (tensor<2x3xf64>, tensor<2x3xf64>, tensor<f64>, tensor<i32>, tensor<2x3xf64>, tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>)
  %t3 = arith.constant dense<3> : tensor<i32>
  %p3, %m3, %v3 = tg.update "adamw" %p2, %g3, %lr, %t3 states %m2, %v2 {beta1 = 0.8, beta2 = 0.9, eps = 1.0e-3, weight_decay = 0.2} : (tensor<2x3xf64>, tensor<2x3xf64>, tensor<f64>, tensor<i32>, tensor<2x3xf64>, tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>)
  return %p1, %p2, %p3 : tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>
}

// CHECK: 'lion': 3 results agree
func.func @lion(%p0: tensor<2x3xf64> {tg.input = "p0"},
                %g1: tensor<2x3xf64> {tg.input = "g1"},
                %g2: tensor<2x3xf64> {tg.input = "g2"},
                %g3: tensor<2x3xf64> {tg.input = "g3"})
    -> (tensor<2x3xf64> {tg.output = "p1"}, tensor<2x3xf64> {tg.output = "p2"}, tensor<2x3xf64> {tg.output = "p3"}) {
  %lr = arith.constant dense<0.1> : tensor<f64>
  %m0 = arith.constant dense<0.0> : tensor<2x3xf64>
  %p1, %m1 = tg.update "lion" %p0, %g1, %lr states %m0 {beta1 = 0.7, beta2 = 0.9, weight_decay = 0.2} : (tensor<2x3xf64>, tensor<2x3xf64>, tensor<f64>, tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>)
  %p2, %m2 = tg.update "lion" %p1, %g2, %lr states %m1 {beta1 = 0.7, beta2 = 0.9, weight_decay = 0.2} : (tensor<2x3xf64>, tensor<2x3xf64>, tensor<f64>, tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>)
  %p3, %m3 = tg.update "lion" %p2, %g3, %lr states %m2 {beta1 = 0.7, beta2 = 0.9, weight_decay = 0.2} : (tensor<2x3xf64>, tensor<2x3xf64>, tensor<f64>, tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>)
  return %p1, %p2, %p3 : tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>
}
