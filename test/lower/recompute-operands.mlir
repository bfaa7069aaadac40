// What a kernel can compute from its other operands, it does not read.
// RUN: braid-opt %s --tg-decompose --exec-select-calls --exec-form-kernels --exec-fuse-kernels --exec-recompute-operands --exec-verify-values --split-input-file | FileCheck %s
// RUN: braid-opt %s --pass-pipeline="builtin.module(func.func(tg-decompose),braid-actions{without=exec-recompute-operands})" --split-input-file | FileCheck %s --check-prefix=OFF

// The gradient of SwiGLU, some layers later, reads gate, up and the gradient: silu(gate) is not kept.
// CHECK-LABEL: @swiglu
// CHECK: exec.kernel "silu"(%arg0, %arg1) space [4, 8] : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x8xbf16> {
// CHECK: exec.kernel "silu_grad"(
// CHECK-SAME: space [4, 8] : (tensor<4x8xbf16>, tensor<4x8xbf16>, tensor<4x8xbf16>) -> (tensor<4x8xbf16>, tensor<4x8xbf16>)
// The divisor 1 + exp(-gate) is computed once.
// CHECK-COUNT-1: math.exp
// CHECK-NOT: math.exp
// It is rounded as the tensor in memory was.
// CHECK: arith.divf
// CHECK: arith.truncf
// CHECK: return
// OFF-LABEL: @swiglu
// OFF: exec.kernel "silu"{{.*}} -> (tensor<4x8xbf16>, tensor<4x8xbf16>)
func.func @swiglu(%gate: tensor<4x8xbf16>, %up: tensor<4x8xbf16>, %w: tensor<8x8xbf16>)
    -> (tensor<4x8xbf16>, tensor<4x8xbf16>, tensor<4x8xbf16>) {
  %s = tg.silu %gate : tensor<4x8xbf16>
  %h = arith.mulf %s, %up : tensor<4x8xbf16>
  %y = tg.contract "bd,de->be" %h, %w : (tensor<4x8xbf16>, tensor<8x8xbf16>) -> tensor<4x8xbf16>
  %c0 = tg.contract "bd,de->be" %y, %w : (tensor<4x8xbf16>, tensor<8x8xbf16>) -> tensor<4x8xbf16>
  %c1 = tg.contract "bd,de->be" %c0, %w : (tensor<4x8xbf16>, tensor<8x8xbf16>) -> tensor<4x8xbf16>
  %c2 = tg.contract "bd,de->be" %c1, %w : (tensor<4x8xbf16>, tensor<8x8xbf16>) -> tensor<4x8xbf16>
  %c3 = tg.contract "bd,de->be" %c2, %w : (tensor<4x8xbf16>, tensor<8x8xbf16>) -> tensor<4x8xbf16>
  %dh = tg.contract "be,de->bd" %c3, %w : (tensor<4x8xbf16>, tensor<8x8xbf16>) -> tensor<4x8xbf16>
  %du = arith.mulf %dh, %s : tensor<4x8xbf16>
  %ds = arith.mulf %dh, %up : tensor<4x8xbf16>
  %dg = tg.silu_grad %gate, %ds : tensor<4x8xbf16>
  return %y, %du, %dg : tensor<4x8xbf16>, tensor<4x8xbf16>, tensor<4x8xbf16>
}

// -----

// A call reads the activation as well: it is kept, and the kernel computes it all the same.
// CHECK-LABEL: @read_by_a_call
// CHECK: %[[Y:.*]] = exec.kernel "tanh"(%arg0)
// CHECK: exec.matmul {{.*}}(%[[Y]], %arg1)
// CHECK: exec.kernel "mulf"(%{{[0-9]+}}, %arg0) space [4, 8] : (tensor<4x8xf32>, tensor<4x8xf32>)
// CHECK: math.tanh
func.func @read_by_a_call(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %y = math.tanh %x : tensor<4x8xf32>
  %z = tg.contract "bd,de->be" %y, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %a = arith.mulf %z, %y : tensor<4x8xf32>
  %b = arith.mulf %a, %x : tensor<4x8xf32>
  return %z, %b : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// One of its operands would have to be read only for it.
// CHECK-LABEL: @needs_another_operand
// CHECK: %[[Y:.*]] = exec.kernel "addf"(%arg0, %arg1)
// CHECK: %[[Z:.*]] = exec.matmul
// CHECK: exec.kernel "mulf"(%[[Z]], %[[Y]], %arg0)
func.func @needs_another_operand(%x: tensor<4x8xf32>, %r: tensor<4x8xf32>, %w: tensor<8x8xf32>)
    -> tensor<4x8xf32> {
  %y = arith.addf %x, %r : tensor<4x8xf32>
  %z = tg.contract "bd,de->be" %y, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %a = arith.mulf %z, %y : tensor<4x8xf32>
  %b = arith.mulf %a, %x : tensor<4x8xf32>
  return %b : tensor<4x8xf32>
}

// -----

// A vector of lanes is not read at the coordinates of the matrix that it is added to.
// CHECK-LABEL: @broadcast
// CHECK: %[[Y:.*]] = exec.kernel "addf"(%arg0, %arg1)
// CHECK: %[[Z:.*]] = exec.matmul
// CHECK: exec.kernel "mulf"(%[[Z]], %[[Y]], %arg0)
func.func @broadcast(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %c = tg.broadcast %v dims [1] : tensor<8xf32> -> tensor<4x8xf32>
  %y = arith.addf %x, %c : tensor<4x8xf32>
  %z = tg.contract "bd,de->be" %y, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %d = arith.addf %z, %c : tensor<4x8xf32>
  %a = arith.mulf %d, %y : tensor<4x8xf32>
  %b = arith.mulf %a, %x : tensor<4x8xf32>
  return %b : tensor<4x8xf32>
}

// -----

// Random numbers are drawn once.
// CHECK-LABEL: @dropout
// CHECK: %[[Y:.*]] = exec.kernel "dropout"
// CHECK: %[[Z:.*]] = exec.matmul
// CHECK: exec.kernel "mulf"(%[[Z]], %[[Y]], %arg0)
func.func @dropout(%x: tensor<4x8xf32>, %key: tensor<4xi32>, %w: tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %y = tg.dropout %x, %key rate 0.5 stream 0 : (tensor<4x8xf32>, tensor<4xi32>) -> tensor<4x8xf32>
  %z = tg.contract "bd,de->be" %y, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %a = arith.mulf %z, %y : tensor<4x8xf32>
  %b = arith.mulf %a, %x : tensor<4x8xf32>
  return %z, %b : tensor<4x8xf32>, tensor<4x8xf32>
}
