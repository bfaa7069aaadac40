// RUN: braid-opt %s --tg-decompose --tg-verify-primitives | FileCheck %s
// RUN: braid-opt %s --tg-decompose="only=tg.silu,tg.softmax" | FileCheck %s --check-prefix=ONLY
// RUN: braid-opt %s --tg-decompose="only=tg.cross_entropy" | FileCheck %s --check-prefix=MEAN
// RUN: braid-opt %s --tg-decompose --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC
// RUN: not braid-opt %s --tg-decompose="only=tg.reduce" 2>&1 | FileCheck %s --check-prefix=NAME

// NAME: error: only=tg.reduce: no composite op has this name

// Row statistics are reductions of the last dim, their use a broadcast.
// CHECK-LABEL: func.func @softmax
// CHECK: %[[MAX:.*]] = tg.reduce max %[[X:.*]] dims [1]
// CHECK: %[[MAXES:.*]] = tg.broadcast %[[MAX]] dims [0]
// CHECK: %[[D:.*]] = arith.subf %[[X]], %[[MAXES]]
// CHECK: %[[E:.*]] = math.exp %[[D]]
// CHECK: %[[SUM:.*]] = tg.reduce sum %[[E]] dims [1]
// CHECK: arith.divf %[[E]]
// LOC-LABEL: func.func @softmax
// LOC: tg.reduce max {{.*}} loc(#[[SOFTMAX:.*]])
// ONLY-LABEL: func.func @softmax
// ONLY-NOT: tg.softmax
func.func @softmax(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %y = tg.softmax %x : tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// The parts are named by the composite; its location is kept below the name.
// LOC-LABEL: func.func @silu
// LOC: math.exp {{.*}} loc(#[[ACT:.*]])
// ONLY-LABEL: func.func @silu
// ONLY-NOT: tg.silu
func.func @silu(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %y = tg.silu %x : tensor<3x4xf32> loc("h.0.act")
  return %y : tensor<3x4xf32>
}
// LOC: #[[PLACE:loc[0-9]+]] = loc("h.0.act")
// LOC: #[[PART:loc[0-9]+]] = loc("tg.softmax"(
// LOC: #[[ACT]] = loc("tg.silu"(#[[PLACE]]))
// LOC: #[[SOFTMAX]] = loc("%{{[a-z]+}}"(#[[PART]]))

// bf16 is for memory: arithmetic happens in f32.
// CHECK-LABEL: func.func @bf16
// CHECK: %[[X:.*]] = tg.convert %{{.*}} : tensor<3x4xbf16> -> tensor<3x4xf32>
// CHECK: tg.reduce mean %{{.*}} dims [1] : tensor<3x4xf32>
// CHECK: tg.convert %{{.*}} : tensor<3x4xf32> -> tensor<3x4xbf16>
// CHECK: tg.convert %{{.*}} : tensor<3xf32> -> tensor<3xbf16>
// ONLY-LABEL: func.func @bf16
// ONLY: tg.rms_norm
func.func @bf16(%x: tensor<3x4xbf16>, %w: tensor<4xbf16>) -> (tensor<3x4xbf16>, tensor<3xbf16>) {
  %y, %r = tg.rms_norm %x, %w eps 1.0e-5 : (tensor<3x4xbf16>, tensor<4xbf16>) -> (tensor<3x4xbf16>, tensor<3xbf16>)
  return %y, %r : tensor<3x4xbf16>, tensor<3xbf16>
}

// Query heads in groups: keys and values are not repeated.
// CHECK-LABEL: func.func @grouped
// CHECK-NOT: tg.broadcast {{.*}} tensor<2x8x4x4xf32>
// CHECK: %[[Q:.*]] = tg.reshape %{{.*}} : tensor<2x8x4x4xf32> -> tensor<2x8x2x2x4xf32>
// CHECK: %[[S:.*]] = tg.contract "bshrd,bthd->bhrst" %[[Q]], %[[K:.*]] :
// CHECK: arith.cmpi sge
// CHECK: arith.select
// CHECK: tg.contract "bhrst,bthd->bshrd"
func.func @grouped(%q: tensor<2x8x4x4xf32>, %k: tensor<2x8x2x4xf32>, %v: tensor<2x8x2x4xf32>) -> tensor<2x8x4x4xf32> {
  %o, %lse = tg.attention %q, %k, %v scale 0.5 causal
      : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
  return %o : tensor<2x8x4x4xf32>
}

// The target is compared, not gathered.
// CHECK-LABEL: func.func @loss
// CHECK-NOT: tg.gather
// CHECK: tg.iota dim 2 : tensor<2x3x5xi64>
// CHECK: arith.maximumf
func.func @loss(%x: tensor<2x3x5xf32>, %t: tensor<2x3xi64>) -> tensor<f32> {
  %loss, %lse = tg.cross_entropy mean %x, %t ignore -1 : (tensor<2x3x5xf32>, tensor<2x3xi64>) -> (tensor<f32>, tensor<2x3xf32>)
  return %loss : tensor<f32>
}

// A mean is a sum divided by a count, so that a part of the batch can be summed;
// bf16 is summed and counted in f32.
// MEAN-LABEL: func.func @mean
// MEAN: %[[SUM:.*]] = tg.reduce sum %{{.*}} dims [0, 1] : tensor<2x3xf32> -> tensor<f32>
// MEAN: %[[COUNT:.*]] = tg.count %{{.*}} ignore -1 : tensor<2x3xi64> -> tensor<f32>
// MEAN: %[[DIVISOR:.*]] = arith.maximumf %[[COUNT]], %{{.*}} : tensor<f32>
// MEAN: %[[LOSS:.*]] = arith.divf %[[SUM]], %[[DIVISOR]] : tensor<f32>
// MEAN: tg.convert %[[LOSS]] : tensor<f32> -> tensor<bf16>
func.func @mean(%x: tensor<2x3x5xbf16>, %t: tensor<2x3xi64>) -> tensor<bf16> {
  %loss, %lse = tg.cross_entropy mean %x, %t ignore -1 : (tensor<2x3x5xbf16>, tensor<2x3xi64>) -> (tensor<bf16>, tensor<2x3xbf16>)
  return %loss : tensor<bf16>
}

// Marks that only differentiation reads go; primitives stay.
// CHECK-LABEL: func.func @marks
// CHECK-NEXT: %[[Y:.*]] = math.exp
// CHECK-NEXT: return %[[Y]]
// ONLY-LABEL: func.func @marks
// ONLY: tg.stop_gradient
func.func @marks(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = math.exp %x : tensor<3xf32>
  %z = tg.stop_gradient %y : tensor<3xf32>
  return %z : tensor<3xf32>
}

// CHECK-LABEL: func.func @updates
// CHECK: math.powf
func.func @updates(%p: tensor<8xf32>, %g: tensor<8xf32>, %m: tensor<8xf32>, %v: tensor<8xf32>, %lr: tensor<f32>, %step: tensor<i32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>) {
  %p1, %m1, %v1 = tg.update "adamw" %p, %g, %lr, %step states %m, %v {beta1 = 0.9, beta2 = 0.95, eps = 1.0e-8, weight_decay = 0.1}
      : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<i32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  %p2, %m2 = tg.update "nesterov" %p, %g, %lr states %m {momentum = 0.9, weight_decay = 0.0}
      : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %n = tg.global_norm %p, %g : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  %t = arith.constant dense<[1, -1]> : tensor<2xi32>
  %c = tg.count %t ignore -1 : tensor<2xi32> -> tensor<f32>
  return %p1, %m1, %v1, %p2, %m2, %n, %c : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>
}
