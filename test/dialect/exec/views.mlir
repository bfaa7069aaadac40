// Views of views are one view where every step is a constant number of elements.
// RUN: braid-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @transpose_of_slice
// CHECK: exec.view %arg0 offset 8 strides [1, 24]
func.func @transpose_of_slice(%x: tensor<4x24xf32>) -> tensor<8x4xf32> {
  %a = exec.view %x offset 8 strides [24, 1] : tensor<4x24xf32> -> tensor<4x8xf32>
  %b = exec.view %a offset 0 strides [1, 8] : tensor<4x8xf32> -> tensor<8x4xf32>
  return %b : tensor<8x4xf32>
}

// Splitting a dim of a slice keeps its stride.
// CHECK-LABEL: @split_of_slice
// CHECK: exec.view %arg0 offset 8 strides [24, 4, 1]
func.func @split_of_slice(%x: tensor<4x24xf32>) -> tensor<4x2x4xf32> {
  %a = exec.view %x offset 8 strides [24, 1] : tensor<4x24xf32> -> tensor<4x8xf32>
  %b = exec.view %a offset 0 strides [8, 4, 1] : tensor<4x8xf32> -> tensor<4x2x4xf32>
  return %b : tensor<4x2x4xf32>
}

// The rows of a slice of columns are no single dim: two views stay.
// CHECK-LABEL: @merge_of_slice
// CHECK-COUNT-2: exec.view
func.func @merge_of_slice(%x: tensor<4x24xf32>) -> tensor<32xf32> {
  %a = exec.view %x offset 8 strides [24, 1] : tensor<4x24xf32> -> tensor<4x8xf32>
  %b = exec.view %a offset 0 strides [1] : tensor<4x8xf32> -> tensor<32xf32>
  return %b : tensor<32xf32>
}

// Rows that are whole do merge.
// CHECK-LABEL: @merge_of_rows
// CHECK: exec.view %arg0 offset 24 strides [1] : tensor<4x24xf32> -> tensor<48xf32>
func.func @merge_of_rows(%x: tensor<4x24xf32>) -> tensor<48xf32> {
  %a = exec.view %x offset 24 strides [24, 1] : tensor<4x24xf32> -> tensor<2x24xf32>
  %b = exec.view %a offset 0 strides [1] : tensor<2x24xf32> -> tensor<48xf32>
  return %b : tensor<48xf32>
}

// CHECK-LABEL: @identity
// CHECK-NEXT: return %arg0
func.func @identity(%x: tensor<4x24xf32>) -> tensor<4x24xf32> {
  %a = exec.view %x offset 0 strides [24, 1] : tensor<4x24xf32> -> tensor<4x24xf32>
  return %a : tensor<4x24xf32>
}
