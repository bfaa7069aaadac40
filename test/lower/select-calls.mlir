// Library calls and views of the graph.
// RUN: braid-opt %s --exec-select-calls --split-input-file | FileCheck %s

// CHECK-LABEL: @bias
// CHECK: exec.matmul "bd,fd->bf"(%arg0, %arg1 bias %arg2 : tensor<16xf32>)
// CHECK-NOT: arith.addf
func.func @bias(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %b: tensor<16xf32>) -> tensor<4x16xf32> {
  %h = tg.contract "bd,fd->bf" %x, %w : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %r = tg.broadcast %b dims [1] : tensor<16xf32> -> tensor<4x16xf32>
  %y = arith.addf %h, %r : tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}

// -----

// The sum stays when something else reads the result of the matmul.
// CHECK-LABEL: @no_bias
// CHECK: exec.matmul "bd,fd->bf"(%arg0, %arg1)
// CHECK: arith.addf
func.func @no_bias(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %b: tensor<16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>) {
  %h = tg.contract "bd,fd->bf" %x, %w : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %r = tg.broadcast %b dims [1] : tensor<16xf32> -> tensor<4x16xf32>
  %y = arith.addf %h, %r : tensor<4x16xf32>
  return %h, %y : tensor<4x16xf32>, tensor<4x16xf32>
}

// -----

// Two contributions to a gradient: the second call adds into the first's result.
// CHECK-LABEL: @accumulate
// CHECK: %[[A:.*]] = exec.matmul "bd,fd->bf"(%arg0, %arg1)
// CHECK: exec.matmul "bd,fd->bf"(%arg0, %arg2 acc %[[A]] : tensor<4x16xf32>)
func.func @accumulate(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %v: tensor<16x8xf32>) -> tensor<4x16xf32> {
  %a = tg.contract "bd,fd->bf" %x, %w : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %b = tg.contract "bd,fd->bf" %x, %v : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %y = arith.addf %a, %b : tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}

// -----

// A state that is updated by the sum is accumulated into; any other argument is not.
// CHECK-LABEL: @accumulate_state
// CHECK: exec.matmul "bd,fd->bf"(%arg0, %arg1 acc %arg2 : tensor<4x16xf32>)
// CHECK-LABEL: @not_an_update
// CHECK: arith.addf
func.func @accumulate_state(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>,
    %g: tensor<4x16xf32> {tg.state = #tg.state<"g", #tg.init<zeros>, of = "w", kind = accumulator>})
    -> (tensor<4x16xf32> {tg.updates = "g"}) {
  %a = tg.contract "bd,fd->bf" %x, %w : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %y = arith.addf %g, %a : tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}
func.func @not_an_update(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %g: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %a = tg.contract "bd,fd->bf" %x, %w : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %y = arith.addf %g, %a : tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}

// -----

// Heads are split and transposed without moving a byte.
// CHECK-LABEL: @heads
// CHECK: %[[Q:.*]] = exec.view %arg0 offset 0 strides [96, 24, 4, 1] : tensor<2x4x24xf32> -> tensor<2x4x2x4xf32>
// CHECK: %[[K:.*]] = exec.view %arg0 offset 8 strides [96, 24, 4, 1]
// CHECK: exec.matmul "bshd,bthd->bhst"(%[[Q]], %[[K]])
// CHECK-NOT: exec.kernel
func.func @heads(%qkv: tensor<2x4x24xf32>) -> tensor<2x2x4x4xf32> {
  %q = tg.slice %qkv dim 2 offset 0 size 8 : tensor<2x4x24xf32> -> tensor<2x4x8xf32>
  %k = tg.slice %qkv dim 2 offset 8 size 8 : tensor<2x4x24xf32> -> tensor<2x4x8xf32>
  %qh = tg.reshape %q : tensor<2x4x8xf32> -> tensor<2x4x2x4xf32>
  %kh = tg.reshape %k : tensor<2x4x8xf32> -> tensor<2x4x2x4xf32>
  %s = tg.contract "bshd,bthd->bhst" %qh, %kh : (tensor<2x4x2x4xf32>, tensor<2x4x2x4xf32>) -> tensor<2x2x4x4xf32>
  return %s : tensor<2x2x4x4xf32>
}

// -----

// No strides express rows of a slice as one dim: a copy first.
// CHECK-LABEL: @copy
// CHECK: %[[V:.*]] = exec.view %arg0 offset 8 strides [24, 1]
// CHECK: %[[C:.*]] = exec.kernel "copy"(%[[V]])
// CHECK: exec.view %[[C]] offset 0 strides [1]
func.func @copy(%x: tensor<4x24xf32>) -> tensor<32xf32> {
  %a = tg.slice %x dim 1 offset 8 size 8 : tensor<4x24xf32> -> tensor<4x8xf32>
  %b = tg.reshape %a : tensor<4x8xf32> -> tensor<32xf32>
  return %b : tensor<32xf32>
}

// -----

// Every second column: no GEMM reads these strides.
// CHECK-LABEL: @illegal_operand
// CHECK: %[[V:.*]] = exec.view %arg0 offset 0 strides [16, 2]
// CHECK: %[[C:.*]] = exec.kernel "copy"(%[[V]])
// CHECK: exec.matmul "bd,fd->bf"(%[[C]], %arg1)
func.func @illegal_operand(%x: tensor<4x16xf32>, %w: tensor<16x8xf32>) -> tensor<4x16xf32> {
  %a = tg.slice %x dim 1 offset 0 size 8 stride 2 : tensor<4x16xf32> -> tensor<4x8xf32>
  %h = tg.contract "bd,fd->bf" %a, %w : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  return %h : tensor<4x16xf32>
}

// -----

// The last dim of the result is a batch dim: the call writes it first.
// CHECK-LABEL: @batch_last
// CHECK: %[[M:.*]] = exec.matmul "bmk,bnk->bmn"
// CHECK: exec.view %[[M]] offset 0 strides [5, 1, 20]
func.func @batch_last(%x: tensor<3x4x8xf32>, %w: tensor<3x5x8xf32>) -> tensor<4x5x3xf32> {
  %h = tg.contract "bmk,bnk->mnb" %x, %w : (tensor<3x4x8xf32>, tensor<3x5x8xf32>) -> tensor<4x5x3xf32>
  return %h : tensor<4x5x3xf32>
}

// -----

// No matmul: rows are multiplied and summed.
// CHECK-LABEL: @dots
// CHECK-NOT: exec.matmul
// CHECK: arith.mulf
// CHECK: tg.reduce sum
func.func @dots(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4xf32> {
  %h = tg.contract "bd,bd->b" %x, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4xf32>
  return %h : tensor<4xf32>
}

// A vector for each matrix of a batch: the matrices are read as they lie.
// CHECK-LABEL: @vectors
// CHECK-NOT: exec.matmul
// CHECK: %[[P:.*]] = arith.mulf %{{.*}}, %{{.*}} : tensor<2x4x8xf32>
// CHECK: tg.reduce sum %[[P]] dims [1] : tensor<2x4x8xf32> -> tensor<2x8xf32>
// CHECK: %[[Q:.*]] = arith.mulf %{{.*}}, %{{.*}} : tensor<2x4x8xf32>
// CHECK: tg.reduce sum %[[Q]] dims [2] : tensor<2x4x8xf32> -> tensor<2x4xf32>
func.func @vectors(%x: tensor<2x4x8xf32>, %w: tensor<2x4xf32>, %v: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x4xf32>) {
  %y = tg.contract "bkd,bk->bd" %x, %w : (tensor<2x4x8xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  %z = tg.contract "bd,bkd->bk" %v, %x : (tensor<2x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4xf32>
  return %y, %z : tensor<2x8xf32>, tensor<2x4xf32>
}

// -----

// Gradients of slices are put together.
// CHECK-LABEL: @pads
// CHECK: exec.concat %arg0, %arg1, %{{.*}} dim 1
// CHECK-NOT: arith.addf
func.func @pads(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x20xf32> {
  %x = tg.pad %a dim 1 low 0 high 12 value 0.0 : tensor<4x8xf32> -> tensor<4x20xf32>
  %y = tg.pad %b dim 1 low 8 high 4 value 0.0 : tensor<4x8xf32> -> tensor<4x20xf32>
  %s = arith.addf %y, %x : tensor<4x20xf32>
  return %s : tensor<4x20xf32>
}

// -----

// 64-bit indices become 32-bit.
// CHECK-LABEL: @gather
// CHECK: %[[I:.*]] = tg.convert %arg1
// CHECK: exec.gather(%arg0, %[[I]])
func.func @gather(%t: tensor<16x8xf32>, %i: tensor<4xi64>) -> tensor<4x8xf32> {
  %y = tg.gather %t, %i : (tensor<16x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// A GPU sums rows of bf16 in f32; the CPU reads them as f32.
// CHECK-LABEL: module attributes {exec.target = #exec.target<"cuda"
// CHECK: exec.scatter_add(%arg0, %arg1) : (tensor<4xi32>, tensor<4x8xbf16>) -> tensor<16x8xf32>
module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
func.func @scatter(%ids: tensor<4xi32>, %dy: tensor<4x8xbf16>) -> tensor<16x8xf32> {
  %wide = tg.convert %dy : tensor<4x8xbf16> -> tensor<4x8xf32>
  %dw = tg.scatter_add %ids, %wide : (tensor<4xi32>, tensor<4x8xf32>) -> tensor<16x8xf32>
  return %dw : tensor<16x8xf32>
}
}

// -----

// CHECK-LABEL: @scatter_on_cpu
// CHECK: exec.scatter_add(%arg0, %{{.*}}) : (tensor<4xi32>, tensor<4x8xf32>) -> tensor<16x8xf32>
func.func @scatter_on_cpu(%ids: tensor<4xi32>, %dy: tensor<4x8xbf16>) -> tensor<16x8xf32> {
  %wide = tg.convert %dy : tensor<4x8xbf16> -> tensor<4x8xf32>
  %dw = tg.scatter_add %ids, %wide : (tensor<4xi32>, tensor<4x8xf32>) -> tensor<16x8xf32>
  return %dw : tensor<16x8xf32>
}
