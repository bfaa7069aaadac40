// Kernels moved into one another.
// RUN: braid-opt %s --tg-decompose --exec-select-calls --exec-form-kernels --exec-fuse-kernels --exec-verify-values --split-input-file | FileCheck %s

// Residual sum and layer norm: one kernel; the sum and the statistics are results.
// CHECK-LABEL: @layer_norm
// CHECK: exec.kernel {{.*}}layer_norm"(%arg0, %arg1, %arg2, %arg3) space [4, 32, 64]
// CHECK-SAME: -> (tensor<4x32x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32x64xf32>)
// CHECK-NOT: exec.kernel
func.func @layer_norm(%x: tensor<4x32x64xf32>, %r: tensor<4x32x64xf32>, %w: tensor<64xf32>, %b: tensor<64xf32>)
    -> (tensor<4x32x64xf32>, tensor<4x32x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>) {
  %h = arith.addf %x, %r : tensor<4x32x64xf32>
  %y, %m, %s = tg.layer_norm %h, %w, %b eps 1.0e-5 : (tensor<4x32x64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<4x32x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>)
  return %h, %y, %m, %s : tensor<4x32x64xf32>, tensor<4x32x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>
}

// -----

// Backward: one kernel with partial sums of the weight gradients, whose rows are
// split into blocks, and one to finish each sum.
// CHECK-LABEL: @layer_norm_grad
// CHECK: %[[K:.*]]:3 = exec.kernel "layer_norm_grad"
// CHECK-SAME: space [4, 4, 8, 64]
// CHECK-DAG: exec.kernel "layer_norm_grad"(%[[K]]#{{.}}) space [4, 4, 64] : (tensor<4x4x64xf32>) -> tensor<64xf32>
// CHECK-DAG: exec.kernel "layer_norm_grad"(%[[K]]#{{.}}) space [4, 4, 64] : (tensor<4x4x64xf32>) -> tensor<64xf32>
// CHECK-NOT: exec.kernel
func.func @layer_norm_grad(%x: tensor<4x32x64xf32>, %w: tensor<64xf32>, %m: tensor<4x32xf32>, %s: tensor<4x32xf32>,
    %dy: tensor<4x32x64xf32>, %dr: tensor<4x32x64xf32>) -> (tensor<4x32x64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %dx, %dw, %db = tg.layer_norm_grad %x, %w, %m, %s, %dy : (tensor<4x32x64xf32>, tensor<64xf32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32x64xf32>) -> (tensor<4x32x64xf32>, tensor<64xf32>, tensor<64xf32>)
  %dh = arith.addf %dx, %dr : tensor<4x32x64xf32>
  return %dh, %dw, %db : tensor<4x32x64xf32>, tensor<64xf32>, tensor<64xf32>
}

// -----

// Scale, mask and softmax.
// CHECK-LABEL: @softmax
// CHECK: exec.kernel {{.*}}(%arg0) space [2, 4, 8, 8]
// CHECK-NOT: exec.kernel
func.func @softmax(%x: tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32> {
  %c = arith.constant dense<0.125> : tensor<2x4x8x8xf32>
  %inf = arith.constant dense<0xFF800000> : tensor<2x4x8x8xf32>
  %i = tg.iota dim 2 : tensor<2x4x8x8xi32>
  %j = tg.iota dim 3 : tensor<2x4x8x8xi32>
  %m = arith.cmpi sge, %i, %j : tensor<2x4x8x8xi32>
  %s = arith.mulf %x, %c : tensor<2x4x8x8xf32>
  %k = arith.select %m, %s, %inf : tensor<2x4x8x8xi1>, tensor<2x4x8x8xf32>
  %y = tg.softmax %k : tensor<2x4x8x8xf32>
  return %y : tensor<2x4x8x8xf32>
}

// -----

// Cross entropy: one kernel over the logits; sums over rows finish it.
// CHECK-LABEL: @cross_entropy
// CHECK: exec.kernel "cross_entropy"(%arg0, %arg1) space [4, 8, 50]
// CHECK-NOT: space [4, 8, 50]
func.func @cross_entropy(%x: tensor<4x8x50xf32>, %t: tensor<4x8xi32>) -> (tensor<f32>, tensor<4x8xf32>) {
  %loss, %lse = tg.cross_entropy mean %x, %t ignore -100 : (tensor<4x8x50xf32>, tensor<4x8xi32>) -> (tensor<f32>, tensor<4x8xf32>)
  return %loss, %lse : tensor<f32>, tensor<4x8xf32>
}

// -----

// GELU's gradient and the partial sums of the bias gradient.
// CHECK-LABEL: @gelu_grad
// CHECK: exec.kernel "gelu_grad"(%{{.*}}, %{{.*}}) space [4, 4, 8, 64]
// CHECK-SAME: -> (tensor<4x4x8x64xf32>, tensor<4x4x64xf32>)
// CHECK: exec.kernel "reduce"
// CHECK-NOT: exec.kernel
func.func @gelu_grad(%x: tensor<4x32x64xf32>, %dy: tensor<4x32x64xf32>) -> (tensor<4x32x64xf32>, tensor<64xf32>) {
  %dx = tg.gelu_grad tanh %x, %dy : tensor<4x32x64xf32>
  %db = tg.reduce sum %dx dims [0, 1] : tensor<4x32x64xf32> -> tensor<64xf32>
  return %dx, %db : tensor<4x32x64xf32>, tensor<64xf32>
}

// -----

// Kernels that a call lies between, which reads one and feeds the other, stay apart.
// CHECK-LABEL: @cycle
// CHECK: exec.kernel "exp"
// CHECK: exec.matmul
// CHECK: exec.kernel "mulf"
func.func @cycle(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %a = math.exp %x : tensor<8x8xf32>
  %b = tg.contract "ij,jk->ik" %a, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = arith.mulf %a, %b : tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// -----

// A transposed value is read at other rows and lanes than made it.
// CHECK-LABEL: @transposed
// CHECK: exec.kernel "exp"
// CHECK: exec.kernel "mulf"
func.func @transposed(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %a = math.exp %x : tensor<8x8xf32>
  %t = tg.transpose %a [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  %y = arith.mulf %a, %t : tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// -----

// Readers of one tensor share a pass over it.
// CHECK-LABEL: @siblings
// CHECK: exec.kernel {{.*}}(%arg0) space [8, 8] : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>)
// CHECK-NOT: exec.kernel
func.func @siblings(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>) {
  %a = math.exp %x : tensor<8x8xf32>
  %s = tg.reduce max %x dims [1] : tensor<8x8xf32> -> tensor<8xf32>
  return %a, %s : tensor<8x8xf32>, tensor<8xf32>
}

// -----

// One space split in two ways.
// CHECK-LABEL: @reshaped
// CHECK: exec.kernel {{.*}} space [4, 6, 8]
// CHECK-NOT: exec.kernel
func.func @reshaped(%x: tensor<24x8xf32>) -> tensor<4x6x8xf32> {
  %a = math.exp %x : tensor<24x8xf32>
  %r = tg.reshape %a : tensor<24x8xf32> -> tensor<4x6x8xf32>
  %y = math.sqrt %r : tensor<4x6x8xf32>
  return %y : tensor<4x6x8xf32>
}

// -----

// Indices follow when a space is split.
// CHECK-LABEL: @split_index
// CHECK: exec.kernel {{.*}} space [4, 6, 8]
// CHECK: linalg.index 0
// CHECK: linalg.index 1
// CHECK: arith.constant 6 : i32
func.func @split_index(%x: tensor<24x8xf32>) -> tensor<4x6x8xf32> {
  %i = tg.iota dim 0 : tensor<24x8xi32>
  %f = tg.convert %i : tensor<24x8xi32> -> tensor<24x8xf32>
  %a = arith.mulf %x, %f : tensor<24x8xf32>
  %r = tg.reshape %a : tensor<24x8xf32> -> tensor<4x6x8xf32>
  %y = math.sqrt %r : tensor<4x6x8xf32>
  return %y : tensor<4x6x8xf32>
}

// -----

// A rotary embedding of bf16: halves of what is stored are read and written, in one kernel
// beside that of the angles.
// CHECK-LABEL: @rope
// CHECK: exec.kernel "rope"() space [6, 2]
// CHECK: exec.kernel "rope"({{.*}}) space [2, 6, 3, 2] : (tensor<2x6x3x2xbf16>, tensor<6x2xf32>, tensor<2x6x3x2xbf16>, tensor<6x2xf32>) -> (tensor<2x6x3x2xbf16>, tensor<2x6x3x2xbf16>)
// CHECK-NOT: exec.kernel
func.func @rope(%x: tensor<2x6x3x4xbf16>) -> tensor<2x6x3x4xbf16> {
  %y = tg.rope %x theta 1.0e4 : tensor<2x6x3x4xbf16>
  return %y : tensor<2x6x3x4xbf16>
}

// -----

// Scalars that depend on nothing of each other are one launch.
// CHECK-LABEL: @scalars
// CHECK: exec.kernel "reduce__sqrt
// CHECK-NOT: exec.kernel
func.func @scalars(%x: tensor<32xf32>, %s: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %sum = tg.reduce sum %x dims [0] : tensor<32xf32> -> tensor<f32>
  %a = math.sqrt %sum : tensor<f32>
  %b = math.exp %s : tensor<f32>
  return %a, %b : tensor<f32>, tensor<f32>
}
