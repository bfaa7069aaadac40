// Makes @decode where nothing but causal attention reads other positions, and leaves the rest alone, with a word.
// RUN: braid-opt %s --split-input-file --tg-make-decode --verify-diagnostics | FileCheck %s

// Positions along another dim than the second, rotations, an embedding of positions, and a cache for each of keys
// and values in the unit of their attention.
// CHECK-LABEL: func.func @generate
// CHECK-SAME: #tg.state<"cache.key", #tg.init<zeros>, kind = cache>
// CHECK-SAME: #tg.state<"cache.value", #tg.init<zeros>, kind = cache>
// CHECK-SAME: tensor<4x8xf32> {tg.updates = "cache.key"}, tensor<4x8xf32> {tg.updates = "cache.value"}
// CHECK-LABEL: func.func @decode
// CHECK-SAME: tensor<1x1xi32> {tg.input = "tokens"
// The row of the table of positions is looked up; nothing has four positions but caches and scores.
// CHECK: tg.gather %{{.*}} : (tensor<4x8xf32>, tensor<1xi32>) -> tensor<1x8xf32>
// CHECK-NOT: tensor<1x4x8xf32>
// CHECK: math.cos %{{.*}} : tensor<{{.*}}1x
// CHECK: %[[OLD:.*]] = tg.gather %[[CACHE:.*]], %{{.*}} : (tensor<4x8xf32>, tensor<1xi32>) -> tensor<1x8xf32>
// CHECK: %[[LESS:.*]] = arith.negf %[[OLD]]
// CHECK: %[[ROW:.*]] = tg.scatter_add %{{.*}}, %[[LESS]] : (tensor<1xi32>, tensor<1x8xf32>) -> tensor<4x8xf32>
// CHECK: arith.addf %[[CACHE]], %[[ROW]]
// CHECK: tg.scatter_add
// CHECK: return %{{.*}} : tensor<16xf32>, tensor<4x8xf32>, tensor<4x8xf32>
func.func @generate(%t: tensor<1x4xi32> {tg.input = "tokens", tg.role = #tg.role<tokens>},
                    %e: tensor<16x8xf32> {tg.param = #tg.param<"e", #tg.init<ones>>},
                    %w: tensor<4x8xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                    %p: tensor<i32> {tg.input = "position", tg.role = #tg.role<position>})
    -> (tensor<16xf32> {tg.role = #tg.role<logits>}) {
  %g = tg.gather %e, %t : (tensor<16x8xf32>, tensor<1x4xi32>) -> tensor<1x4x8xf32>
  %places = tg.broadcast %w dims [1, 2] : tensor<4x8xf32> -> tensor<1x4x8xf32>
  %x = arith.addf %g, %places : tensor<1x4x8xf32>
  %q = tg.reshape %x : tensor<1x4x8xf32> -> tensor<1x4x2x4xf32>
  %k = tg.rope %q theta 1.0e4 : tensor<1x4x2x4xf32>
  %o, %lse = tg.attention %k, %k, %q scale 0.5 causal
      : (tensor<1x4x2x4xf32>, tensor<1x4x2x4xf32>, tensor<1x4x2x4xf32>) -> (tensor<1x4x2x4xf32>, tensor<1x2x4xf32>)
  %h = tg.reshape %o : tensor<1x4x2x4xf32> -> tensor<4x8xf32>
  %i = tg.reshape %p : tensor<i32> -> tensor<1xi32>
  %r = tg.gather %h, %i : (tensor<4x8xf32>, tensor<1xi32>) -> tensor<1x8xf32>
  %l = tg.contract "bd,vd->bv" %r, %e : (tensor<1x8xf32>, tensor<16x8xf32>) -> tensor<1x16xf32>
  %z = tg.reshape %l : tensor<1x16xf32> -> tensor<16xf32>
  return %z : tensor<16xf32>
}

// -----

// Attention without a mask reads keys of later positions, and so all tokens.
// CHECK-LABEL: func.func @generate
// CHECK-NOT: @decode
// CHECK-NOT: cache
// expected-remark @below {{gets no program 'decode', so each sampled token costs a whole window: 'tg.gather' reads all tokens}}
func.func @generate(%t: tensor<1x4xi32> {tg.input = "tokens", tg.role = #tg.role<tokens>},
                    %e: tensor<16x8xf32> {tg.param = #tg.param<"e", #tg.init<ones>>},
                    %p: tensor<i32> {tg.input = "position", tg.role = #tg.role<position>})
    -> (tensor<16xf32> {tg.role = #tg.role<logits>}) {
  %g = tg.gather %e, %t : (tensor<16x8xf32>, tensor<1x4xi32>) -> tensor<1x4x8xf32>
  %q = tg.reshape %g : tensor<1x4x8xf32> -> tensor<1x4x2x4xf32>
  %o, %lse = tg.attention %q, %q, %q scale 0.5
      : (tensor<1x4x2x4xf32>, tensor<1x4x2x4xf32>, tensor<1x4x2x4xf32>) -> (tensor<1x4x2x4xf32>, tensor<1x2x4xf32>)
  %h = tg.reshape %o : tensor<1x4x2x4xf32> -> tensor<4x8xf32>
  %i = tg.reshape %p : tensor<i32> -> tensor<1xi32>
  %r = tg.gather %h, %i : (tensor<4x8xf32>, tensor<1xi32>) -> tensor<1x8xf32>
  %l = tg.contract "bd,vd->bv" %r, %e : (tensor<1x8xf32>, tensor<16x8xf32>) -> tensor<1x16xf32>
  %z = tg.reshape %l : tensor<1x16xf32> -> tensor<16xf32>
  return %z : tensor<16xf32>
}

// -----

// A sum over the sequence may hold later positions.
// CHECK-NOT: @decode
// expected-remark @below {{'tg.gather' reads all tokens}}
func.func @generate(%t: tensor<1x4xi32> {tg.input = "tokens", tg.role = #tg.role<tokens>},
                    %e: tensor<16x8xf32> {tg.param = #tg.param<"e", #tg.init<ones>>},
                    %p: tensor<i32> {tg.input = "position", tg.role = #tg.role<position>})
    -> (tensor<8xf32> {tg.role = #tg.role<logits>}) {
  %g = tg.gather %e, %t : (tensor<16x8xf32>, tensor<1x4xi32>) -> tensor<1x4x8xf32>
  %s = tg.reduce sum %g dims [0, 1] : tensor<1x4x8xf32> -> tensor<8xf32>
  return %s : tensor<8xf32>
}

// -----

// A window of one token has no earlier positions.
// CHECK-LABEL: func.func @generate
// CHECK-NOT: @decode
func.func @generate(%t: tensor<1x1xi32> {tg.input = "tokens", tg.role = #tg.role<tokens>},
                    %e: tensor<16x8xf32> {tg.param = #tg.param<"e", #tg.init<ones>>},
                    %p: tensor<i32> {tg.input = "position", tg.role = #tg.role<position>})
    -> (tensor<8xf32> {tg.role = #tg.role<logits>}) {
  %g = tg.gather %e, %t : (tensor<16x8xf32>, tensor<1x1xi32>) -> tensor<1x1x8xf32>
  %z = tg.reshape %g : tensor<1x1x8xf32> -> tensor<8xf32>
  return %z : tensor<8xf32>
}

// -----

// A model that samples nothing.
// CHECK-LABEL: func.func @eval
// CHECK-NOT: @decode
func.func @eval(%x: tensor<4xf32> {tg.input = "x"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{the module already has a function 'decode'; rename it}}
func.func @generate(%t: tensor<1x4xi32> {tg.input = "tokens", tg.role = #tg.role<tokens>},
                    %p: tensor<i32> {tg.input = "position", tg.role = #tg.role<position>}) -> tensor<i32> {
  return %p : tensor<i32>
}
func.func @decode(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
