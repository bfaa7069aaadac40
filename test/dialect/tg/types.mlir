// Every op reads its types with parentheses and without, and prints one form: parentheses around two types and more,
// and one type alone where operands and results have the same.
//
// RUN: braid-opt %s | FileCheck %s
// RUN: braid-opt %s | braid-opt | FileCheck %s

// CHECK-LABEL: @one_operand
func.func @one_operand(%x: tensor<4x8xf32>) {
  // CHECK-NEXT: tg.reduce sum %arg0 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %0 = tg.reduce sum %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  // CHECK-NEXT: tg.reduce sum %arg0 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %1 = tg.reduce sum %x dims [1] : (tensor<4x8xf32>) -> (tensor<4xf32>)
  // CHECK-NEXT: tg.top_k %arg0 k 2 : tensor<4x8xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
  %2:2 = tg.top_k %x k 2 : tensor<4x8xf32> -> tensor<4x2xf32>, tensor<4x2xi32>
  // CHECK-NEXT: tg.top_k %arg0 k 2 : tensor<4x8xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
  %3:2 = tg.top_k %x k 2 : (tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
  return
}

// CHECK-LABEL: @two_operands
func.func @two_operands(%x: tensor<4x8xf32>, %w: tensor<3x8xf32>) {
  // CHECK-NEXT: tg.contract "bd,fd->bf" %arg0, %arg1 : (tensor<4x8xf32>, tensor<3x8xf32>) -> tensor<4x3xf32>
  %0 = tg.contract "bd,fd->bf" %x, %w : (tensor<4x8xf32>, tensor<3x8xf32>) -> tensor<4x3xf32>
  // CHECK-NEXT: tg.contract "bd,fd->bf" %arg0, %arg1 : (tensor<4x8xf32>, tensor<3x8xf32>) -> tensor<4x3xf32>
  %1 = tg.contract "bd,fd->bf" %x, %w : tensor<4x8xf32>, tensor<3x8xf32> -> tensor<4x3xf32>
  return
}

// CHECK-LABEL: @same_type
func.func @same_type(%x: tensor<4x8xf32>) {
  // CHECK-NEXT: tg.gelu_grad tanh %arg0, %arg0 : tensor<4x8xf32>
  %0 = tg.gelu_grad tanh %x, %x : tensor<4x8xf32>
  // CHECK-NEXT: tg.gelu_grad tanh %arg0, %arg0 : tensor<4x8xf32>
  %1 = tg.gelu_grad tanh %x, %x : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  // CHECK-NEXT: tg.gelu_grad tanh %arg0, %arg0 : tensor<4x8xf32>
  %2 = tg.gelu_grad tanh %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: tg.iota dim 0 : tensor<4xi32>
  %3 = tg.iota dim 0 : tensor<4xi32>
  // CHECK-NEXT: tg.iota dim 0 : tensor<4xi32>
  %4 = tg.iota dim 0 : () -> tensor<4xi32>
  return
}

// Operands that may be absent, and results of any number.
// CHECK-LABEL: @some
func.func @some(%x: tensor<2x8xf32>, %w: tensor<8xf32>, %lr: tensor<f32>) {
  // CHECK-NEXT: tg.layer_norm %arg0, %arg1 eps {{.*}} : (tensor<2x8xf32>, tensor<8xf32>) -> (tensor<2x8xf32>, tensor<2xf32>, tensor<2xf32>)
  %0:3 = tg.layer_norm %x, %w eps 1.0e-5 : tensor<2x8xf32>, tensor<8xf32> -> tensor<2x8xf32>, tensor<2xf32>, tensor<2xf32>
  // CHECK-NEXT: tg.layer_norm %arg0, %arg1, %arg1 eps {{.*}} : (tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>) ->
  %1:3 = tg.layer_norm %x, %w, %w eps 1.0e-5 : tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<2x8xf32>, tensor<2xf32>, tensor<2xf32>
  // CHECK-NEXT: tg.update "sgd" {{.*}} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = tg.update "sgd" %w, %w, %lr {weight_decay = 0.0} : tensor<8xf32>, tensor<8xf32>, tensor<f32> -> tensor<8xf32>
  // CHECK-NEXT: tg.update "nesterov" {{.*}} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %3:2 = tg.update "nesterov" %w, %w, %lr states %w {momentum = 0.9, weight_decay = 0.0}
      : tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32> -> tensor<8xf32>, tensor<8xf32>
  return
}
