// Activations in library calls.
// RUN: braid-opt %s --exec-select-epilogues | FileCheck %s

// CHECK-LABEL: @gelu
// CHECK: exec.matmul "bd,fd->bf"(%arg0, %arg1 bias %arg2 : tensor<16xf32>) epilogue gelu_tanh
// CHECK-NOT: tg.gelu
func.func @gelu(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %b: tensor<16xf32>) -> tensor<4x16xf32> {
  %h = tg.contract "bd,fd->bf" %x, %w : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %r = tg.broadcast %b dims [1] : tensor<16xf32> -> tensor<4x16xf32>
  %s = arith.addf %h, %r : tensor<4x16xf32>
  %y = tg.gelu tanh %s : tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}

// CHECK-LABEL: @silu
// CHECK: epilogue silu
func.func @silu(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>) -> tensor<4x16xf32> {
  %h = tg.contract "bd,fd->bf" %x, %w : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %y = tg.silu %h : tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}

// Backward reads what the activation read.
// CHECK-LABEL: @saved
// CHECK-NOT: epilogue
// CHECK: tg.silu
func.func @saved(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>) {
  %h = tg.contract "bd,fd->bf" %x, %w : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %y = tg.silu %h : tensor<4x16xf32>
  return %h, %y : tensor<4x16xf32>, tensor<4x16xf32>
}
