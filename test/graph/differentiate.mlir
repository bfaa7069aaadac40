// RUN: braid-opt %s --tg-differentiate --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// The contract of backward: y = sum(x) gives ones.
// CHECK-LABEL: func.func @sum
// CHECK-SAME: tensor<3xf32> {tg.grad_of = "x"})
// CHECK: %[[ONES:.*]] = arith.constant dense<1.000000e+00> : tensor<3xf32>
// CHECK: %[[LOSS:.*]] = tg.reduce sum
// CHECK: return %[[LOSS]], %[[ONES]]
func.func @sum(%x: tensor<3xf32> {tg.input = "x", tg.grad}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %loss = tg.reduce sum %x dims [0] : tensor<3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// y = 2x with the seed g gives 2g.
// CHECK-LABEL: func.func @double
// CHECK-SAME: %[[X:.*]]: tensor<3xf32> {{.*}}, %[[G:.*]]: tensor<3xf32> {tg.input = "g", tg.seed = 0 : i64}
// CHECK: %[[TWO:.*]] = arith.constant dense<2.000000e+00>
// CHECK: %[[Y:.*]] = arith.mulf %[[X]], %[[TWO]]
// CHECK: %[[DX:.*]] = arith.mulf %[[G]], %[[TWO]]
// CHECK: return %[[Y]], %[[DX]]
func.func @double(%x: tensor<3xf32> {tg.input = "x", tg.grad}, %g: tensor<3xf32> {tg.input = "g", tg.seed = 0 : i64})
    -> (tensor<3xf32> {tg.role = #tg.role<loss>}) {
  %two = arith.constant dense<2.0> : tensor<3xf32>
  %y = arith.mulf %x, %two : tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

// Several roots: the gradient of their sum.  Other results stay as they are.
// CHECK-LABEL: func.func @roots
// CHECK: %[[FIVE:.*]] = arith.constant dense<5.000000e+00> : tensor<f32>
// CHECK: return {{.*}}, %[[FIVE]] :
func.func @roots(%x: tensor<f32> {tg.input = "x", tg.grad})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<f32> {tg.role = #tg.role<logits>}, tensor<f32> {tg.role = #tg.role<loss>}) {
  %two = arith.constant dense<2.0> : tensor<f32>
  %three = arith.constant dense<3.0> : tensor<f32>
  %a = arith.mulf %x, %two : tensor<f32>
  %b = arith.mulf %x, %x : tensor<f32>
  %c = arith.mulf %x, %three : tensor<f32>
  return %a, %b, %c : tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// Frozen parameters get nothing, and nothing is computed for them; inputs get
// gradients on request only.
// CHECK-LABEL: func.func @frozen
// CHECK-SAME: -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<3xf32> {tg.grad_of = "b"})
// CHECK-NOT: tg.contract
// CHECK: tg.contract "ij,j->i"
// CHECK-NOT: tg.contract
func.func @frozen(%x: tensor<4xf32> {tg.input = "x"},
                  %w: tensor<3x4xf32> {tg.param = #tg.param<"w", #tg.init<zeros>, frozen>},
                  %b: tensor<3xf32> {tg.param = #tg.param<"b", #tg.init<zeros>>}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %p = tg.contract "ij,j->i" %w, %x : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3xf32>
  %y = arith.addf %p, %b : tensor<3xf32>
  %q = arith.mulf %y, %y : tensor<3xf32>
  %loss = tg.reduce sum %q dims [0] : tensor<3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @unused
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<5xf32>
// CHECK: return {{.*}}, %[[ZERO]]
// expected-remark @below {{'w' does not reach a root; its gradient is zero}}
func.func @unused(%x: tensor<f32> {tg.input = "x"}, %w: tensor<5xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  return %x : tensor<f32>
}

// -----

// Nothing flows through stop_gradient.
// CHECK-LABEL: func.func @stopped
// CHECK-SAME: %[[X:.*]]: tensor<f32> {tg.grad
// CHECK: %[[STOPPED:.*]] = tg.stop_gradient %[[X]]
// CHECK: %[[LOSS:.*]] = arith.mulf %[[X]], %[[STOPPED]]
// CHECK: return %[[LOSS]], %[[STOPPED]]
func.func @stopped(%x: tensor<f32> {tg.grad, tg.input = "x"}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %s = tg.stop_gradient %x : tensor<f32>
  %y = arith.mulf %x, %s : tensor<f32>
  return %y : tensor<f32>
}

// -----

// A tied parameter: the contributions of its uses, last use first.
// CHECK-LABEL: func.func @tied
// CHECK: %[[HEAD:.*]] = tg.contract "sv,sd->vd"
// CHECK: %[[ROWS:.*]] = tg.scatter_add
// CHECK: %[[SUM:.*]] = arith.addf %[[HEAD]], %[[ROWS]]
// CHECK: return {{.*}}, %[[SUM]]
func.func @tied(%wte: tensor<8x4xf32> {tg.param = #tg.param<"wte", #tg.init<zeros>>},
                %tokens: tensor<3xi32> {tg.input = "tokens"}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %e = tg.gather %wte, %tokens : (tensor<8x4xf32>, tensor<3xi32>) -> tensor<3x4xf32>
  %logits = tg.contract "vd,sd->sv" %wte, %e : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<3x8xf32>
  %loss, %lse = tg.cross_entropy mean %logits, %tokens ignore -1 : (tensor<3x8xf32>, tensor<3xi32>) -> (tensor<f32>, tensor<3xf32>)
  return %loss : tensor<f32>
}

// -----

// Composites build their `*_grad` partner from what forward saved.
// CHECK-LABEL: func.func @composites
// CHECK: %[[Y:.*]], %[[MEAN:.*]], %[[RSTD:.*]] = tg.layer_norm
// CHECK: %[[G:.*]] = tg.gelu tanh %[[Y]]
// CHECK: tg.dropout
// CHECK: %[[DG:.*]] = tg.dropout %{{.*}}, %{{.*}} rate 1.000000e-01 stream 3
// CHECK: %[[DY:.*]] = tg.gelu_grad tanh %[[Y]], %[[DG]]
// CHECK: tg.layer_norm_grad %{{.*}}, %{{.*}}, %[[MEAN]], %[[RSTD]], %[[DY]]
func.func @composites(%x: tensor<3x4xf32> {tg.input = "x", tg.grad}, %key: tensor<4xi32> {tg.input = "key"},
                      %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %y, %mean, %rstd = tg.layer_norm %x, %w eps 1.0e-5 : (tensor<3x4xf32>, tensor<4xf32>) -> (tensor<3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  %g = tg.gelu tanh %y : tensor<3x4xf32>
  %d = tg.dropout %g, %key rate 0.1 stream 3 : (tensor<3x4xf32>, tensor<4xi32>) -> tensor<3x4xf32>
  %loss = tg.reduce sum %d dims [0, 1] : tensor<3x4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// A gradient of a saved statistic is not dropped: the op is differentiated
// through its decomposition.
// CHECK-LABEL: func.func @statistics
// CHECK-NOT: tg.rms_norm_grad
// CHECK: math.rsqrt
// CHECK: return
func.func @statistics(%x: tensor<3x4xf32> {tg.input = "x", tg.grad}, %w: tensor<4xf32>) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %y, %rrms = tg.rms_norm %x, %w eps 1.0e-5 : (tensor<3x4xf32>, tensor<4xf32>) -> (tensor<3x4xf32>, tensor<3xf32>)
  %loss = tg.reduce sum %rrms dims [0] : tensor<3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Query, key and value of one matmul: their gradients join, none is padded.
// CHECK-LABEL: func.func @neighbours
// CHECK-NOT: tg.pad
// CHECK: %[[JOINED:.*]] = tg.concat %{{.*}}, %{{.*}}, %{{.*}} dim 0
// CHECK-NOT: tg.pad
// CHECK: return %{{.*}}, %[[JOINED]]
func.func @neighbours(%x: tensor<6xf32> {tg.input = "x", tg.grad}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %q = tg.slice %x dim 0 offset 0 size 2 : tensor<6xf32> -> tensor<2xf32>
  %k = tg.slice %x dim 0 offset 2 size 2 : tensor<6xf32> -> tensor<2xf32>
  %v = tg.slice %x dim 0 offset 4 size 2 : tensor<6xf32> -> tensor<2xf32>
  %qk = arith.mulf %q, %k : tensor<2xf32>
  %y = arith.mulf %qk, %v : tensor<2xf32>
  %loss = tg.reduce sum %y dims [0] : tensor<2xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// The gradient of a maximum is shared by equal maxima.
// CHECK-LABEL: func.func @ties
// CHECK: %[[IS:.*]] = arith.cmpf oeq
// CHECK: %[[AS:.*]] = tg.convert %[[IS]]
// CHECK: %[[TIES:.*]] = tg.reduce sum %[[AS]] dims [0]
// CHECK: arith.divf %{{.*}}, %[[TIES]]
func.func @ties(%x: tensor<3xf32> {tg.input = "x", tg.grad}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %loss = tg.reduce max %x dims [0] : tensor<3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// An index is a choice: no gradient flows into it, though it depends on x.
// CHECK-LABEL: func.func @choice
// CHECK: tg.scatter_add
func.func @choice(%x: tensor<3xi32> {tg.input = "x"}, %t: tensor<4x2xf32> {tg.input = "t", tg.grad}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %y = tg.gather %t, %x : (tensor<4x2xf32>, tensor<3xi32>) -> tensor<3x2xf32>
  %loss = tg.reduce sum %y dims [0, 1] : tensor<3x2xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// A function without a root is left alone when another has one.
// CHECK-LABEL: func.func @forward
// CHECK-SAME: -> tensor<3xf32> {
func.func @forward(%x: tensor<3xf32> {tg.input = "x", tg.grad}) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}
func.func @root(%x: tensor<f32> {tg.input = "x", tg.grad}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  return %x : tensor<f32>
}
