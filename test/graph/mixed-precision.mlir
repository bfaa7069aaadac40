// What runs in bf16, and where values are converted.
//
// RUN: braid-opt %s --tg-mixed-precision --split-input-file | FileCheck %s
// RUN: braid-opt %s --tg-mixed-precision=keep-f32=attention,contractions --split-input-file | FileCheck %s --check-prefix=KEEP

// Matmuls and the ops between them are bf16; the norm reads f32, and so does the
// loss; a parameter is read rounded by the norm, too.  x is converted once for two.
// CHECK-LABEL: func.func @block
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x8xf32> {{.*}}, %[[W:[a-z0-9]+]]: tensor<8x8xf32> {{.*}}, %[[B:[a-z0-9]+]]: tensor<8xf32> {{.*}}, %[[G:[a-z0-9]+]]: tensor<8xf32>
// CHECK-DAG: %[[GN:.*]] = tg.convert %[[G]] : tensor<8xf32> -> tensor<8xbf16>
// CHECK-DAG: %[[GW:.*]] = tg.convert %[[GN]] : tensor<8xbf16> -> tensor<8xf32>
// CHECK-DAG: %[[BN:.*]] = tg.convert %[[B]] : tensor<8xf32> -> tensor<8xbf16>
// CHECK-DAG: %[[WN:.*]] = tg.convert %[[W]] : tensor<8x8xf32> -> tensor<8x8xbf16>
// CHECK-DAG: %[[XN:.*]] = tg.convert %[[X]] : tensor<4x8xf32> -> tensor<4x8xbf16>
// CHECK: %[[H:.*]] = tg.contract "bd,fd->bf" %[[XN]], %[[WN]] : (tensor<4x8xbf16>, tensor<8x8xbf16>) -> tensor<4x8xbf16>
// CHECK: %[[R:.*]] = tg.broadcast %[[BN]] dims [1] : tensor<8xbf16> -> tensor<4x8xbf16>
// CHECK: %[[S:.*]] = arith.addf %[[H]], %[[R]] : tensor<4x8xbf16>
// CHECK: %[[A:.*]] = tg.gelu tanh %[[S]] : tensor<4x8xbf16>
// CHECK: %[[T:.*]] = arith.addf %[[XN]], %[[A]] : tensor<4x8xbf16>
// CHECK: %[[TW:.*]] = tg.convert %[[T]] : tensor<4x8xbf16> -> tensor<4x8xf32>
// CHECK: %[[N:.*]], %{{.*}} = tg.rms_norm %[[TW]], %[[GW]] {{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
// CHECK: %[[NN:.*]] = tg.convert %[[N]] : tensor<4x8xf32> -> tensor<4x8xbf16>
// CHECK: %[[L:.*]] = tg.contract "bd,fd->bf" %[[NN]], %[[WN]]
// CHECK: %[[LW:.*]] = tg.convert %[[L]] : tensor<4x8xbf16> -> tensor<4x8xf32>
// CHECK: %[[LOSS:.*]], %{{.*}} = tg.cross_entropy mean %[[LW]], {{.*}} -> (tensor<f32>, tensor<4xf32>)
// CHECK-NOT: tg.convert
// CHECK: return %[[LOSS]]
//
// Where matmuls stay in f32, so does everything, but for what parameters are.
// KEEP-LABEL: func.func @block
// KEEP: tg.contract "bd,fd->bf" {{.*}} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
// KEEP: tg.gelu tanh {{.*}} : tensor<4x8xf32>
func.func @block(%x: tensor<4x8xf32> {tg.input = "x"}, %w: tensor<8x8xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                 %b: tensor<8xf32> {tg.param = #tg.param<"b", #tg.init<zeros>>},
                 %g: tensor<8xf32> {tg.param = #tg.param<"g", #tg.init<ones>>}, %t: tensor<4xi32> {tg.input = "t"})
    -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %h = tg.contract "bd,fd->bf" %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %r = tg.broadcast %b dims [1] : tensor<8xf32> -> tensor<4x8xf32>
  %s = arith.addf %h, %r : tensor<4x8xf32>
  %a = tg.gelu tanh %s : tensor<4x8xf32>
  %u = arith.addf %x, %a : tensor<4x8xf32>
  %n, %rrms = tg.rms_norm %u, %g eps 1.0e-5 : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  %l = tg.contract "bd,fd->bf" %n, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %loss, %lse = tg.cross_entropy mean %l, %t ignore -100 : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// -----

// A loss made of elementwise ops leads to no matmul: it stays in f32.
// CHECK-LABEL: func.func @squares
// CHECK: %[[Y:.*]] = tg.contract {{.*}} -> tensor<4x8xbf16>
// CHECK: %[[W:.*]] = tg.convert %[[Y]] : tensor<4x8xbf16> -> tensor<4x8xf32>
// CHECK: arith.subf %[[W]], %{{.*}} : tensor<4x8xf32>
// CHECK: arith.mulf %{{.*}} : tensor<4x8xf32>
// CHECK: tg.reduce mean %{{.*}} : tensor<4x8xf32> -> tensor<f32>
func.func @squares(%x: tensor<4x8xf32> {tg.input = "x"}, %t: tensor<4x8xf32> {tg.input = "t"},
                   %w: tensor<8x8xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %y = tg.contract "bd,fd->bf" %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %d = arith.subf %y, %t : tensor<4x8xf32>
  %q = arith.mulf %d, %d : tensor<4x8xf32>
  %l = tg.reduce mean %q dims [0, 1] : tensor<4x8xf32> -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// Rows of a table are bf16, attention too, but for the log-sum-exp.
// CHECK-LABEL: func.func @attend
// CHECK: tg.gather {{.*}} : (tensor<16x8xbf16>, tensor<2x4xi32>) -> tensor<2x4x8xbf16>
// CHECK: tg.rope {{.*}} : tensor<2x4x2x4xbf16>
// CHECK: tg.attention {{.*}} -> (tensor<2x4x2x4xbf16>, tensor<2x2x4xf32>)
// KEEP-LABEL: func.func @attend
// KEEP: tg.gather {{.*}} -> tensor<2x4x8xbf16>
// KEEP: tg.attention {{.*}} -> (tensor<2x4x2x4xf32>, tensor<2x2x4xf32>)
func.func @attend(%i: tensor<2x4xi32> {tg.input = "i"}, %e: tensor<16x8xf32> {tg.param = #tg.param<"e", #tg.init<ones>>})
    -> tensor<2x4x2x4xf32> {
  %h = tg.gather %e, %i : (tensor<16x8xf32>, tensor<2x4xi32>) -> tensor<2x4x8xf32>
  %r = tg.reshape %h : tensor<2x4x8xf32> -> tensor<2x4x2x4xf32>
  %q = tg.rope %r theta 1.0e4 : tensor<2x4x2x4xf32>
  %o, %lse = tg.attention %q, %q, %r scale 0.5 causal
      : (tensor<2x4x2x4xf32>, tensor<2x4x2x4xf32>, tensor<2x4x2x4xf32>) -> (tensor<2x4x2x4xf32>, tensor<2x2x4xf32>)
  return %o : tensor<2x4x2x4xf32>
}

// -----

// Where an activation lies is no reason to widen it.
// CHECK-LABEL: func.func @placed
// CHECK: %[[A:.*]] = tg.contract {{.*}} -> tensor<4x8xbf16>
// CHECK-NEXT: %[[P:.*]] = comm.constrain %[[A]] {{.*}} : tensor<4x8xbf16>
// CHECK-NEXT: tg.contract {{.*}} %[[P]],
comm.mesh @mesh [dp = 2]
func.func @placed(%x: tensor<4x8xf32> {tg.input = "x"}, %w: tensor<8x8xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
    -> tensor<4x8xf32> {
  %a = tg.contract "bd,fd->bf" %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %p = comm.constrain %a <@mesh, {dp} {}> : tensor<4x8xf32>
  %y = tg.contract "bd,fd->bf" %p, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// Left alone: f64, integers, and what has no parameter and no matmul.
// CHECK-LABEL: func.func @others
// CHECK-NOT: tg.convert
// CHECK: tg.contract {{.*}} -> tensor<2x2xf64>
// CHECK-NOT: tg.convert
// CHECK: return
func.func @others(%a: tensor<2x2xf64>, %i: tensor<2xi32>, %x: tensor<2xf32>) -> (tensor<2x2xf64>, tensor<2xi32>, tensor<2xf32>) {
  %c = tg.contract "ab,bc->ac" %a, %a : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  %j = arith.addi %i, %i : tensor<2xi32>
  %y = arith.mulf %x, %x : tensor<2xf32>
  return %c, %j, %y : tensor<2x2xf64>, tensor<2xi32>, tensor<2xf32>
}
