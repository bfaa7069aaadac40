// What a parameter is, the model says before its dims change: a bias that is fused has two dims and stays a bias.
//
// RUN: braid-opt %s --tg-note-groups --tg-unfuse-weights | FileCheck %s
// RUN: braid-opt %s --pass-pipeline="builtin.module(func.func(tg-note-groups,tg-unfuse-weights),tg-make-programs,tg-differentiate{function=train},func.func(tg-apply-optimizer{optimizer=sgd hyperparameters=weight_decay=0.5 decay-exclude=biases}))" | FileCheck %s --check-prefix=BIASES

// CHECK: tensor<8x2x6xf32> {tg.decay_group = "weights", tg.param = #tg.param<"w", #tg.init<ones>, fused = 1>}
// CHECK-SAME: tensor<2x6xf32> {tg.decay_group = "biases", tg.param = #tg.param<"b", #tg.init<zeros>, fused = 0>}
// CHECK-SAME: tensor<6xf32> {tg.decay_group = "norms", tg.param = #tg.param<"g", #tg.init<ones>>}
// CHECK-SAME: tensor<4x8xf32> {tg.decay_group = "embeddings", tg.param = #tg.param<"p", #tg.init<ones>>}

// The attribute is gone when it has been read.
// BIASES-NOT: tg.decay_group
// BIASES: tg.update "sgd" {{.*}} {weight_decay = 5.000000e-01 : f64} : (tensor<8x2x6xf32>
// BIASES: tg.update "sgd" {{.*}} {weight_decay = 0.000000e+00 : f64} : (tensor<2x6xf32>
// BIASES: tg.update "sgd" {{.*}} {weight_decay = 5.000000e-01 : f64} : (tensor<6xf32>
// BIASES: tg.update "sgd" {{.*}} {weight_decay = 5.000000e-01 : f64} : (tensor<4x8xf32>
func.func @model(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>}, %w: tensor<8x12xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                 %b: tensor<12xf32> {tg.param = #tg.param<"b", #tg.init<zeros>>}, %g: tensor<6xf32> {tg.param = #tg.param<"g", #tg.init<ones>>},
                 %p: tensor<4x8xf32> {tg.param = #tg.param<"p", #tg.init<ones>>}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %s = arith.addf %x, %p : tensor<4x8xf32>
  %m = tg.contract "bd,df->bf" %s, %w : (tensor<4x8xf32>, tensor<8x12xf32>) -> tensor<4x12xf32>
  %r = tg.broadcast %b dims [1] : tensor<12xf32> -> tensor<4x12xf32>
  %y = arith.addf %m, %r : tensor<4x12xf32>
  %gate = tg.slice %y dim 1 offset 0 size 6 : tensor<4x12xf32> -> tensor<4x6xf32>
  %up = tg.slice %y dim 1 offset 6 size 6 : tensor<4x12xf32> -> tensor<4x6xf32>
  %z = arith.mulf %gate, %up : tensor<4x6xf32>
  %n:2 = tg.rms_norm %z, %g eps 1.0e-5 : (tensor<4x6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<4xf32>)
  %loss = tg.reduce mean %n#0 dims [0, 1] : tensor<4x6xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
