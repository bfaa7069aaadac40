// One kernel an op; what takes no memory is written into its readers.
// RUN: braid-opt %s --exec-select-calls --exec-form-kernels --exec-verify-values --split-input-file | FileCheck %s

// Constants, iotas and masks are computed where they are read.
// CHECK-LABEL: @causal
// CHECK: exec.kernel "select"(%arg0) space [4, 4]
// CHECK: linalg.index 0
// CHECK: arith.cmpi sge
// CHECK: arith.select
// CHECK-NOT: exec.kernel
func.func @causal(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %i = tg.iota dim 0 : tensor<4x4xi32>
  %j = tg.iota dim 1 : tensor<4x4xi32>
  %m = arith.cmpi sge, %i, %j : tensor<4x4xi32>
  %c = arith.constant dense<0xFF800000> : tensor<4x4xf32>
  %y = arith.select %m, %x, %c : tensor<4x4xi1>, tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// A broadcast is a map of its reader.
// CHECK: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: @broadcast
// CHECK: exec.kernel "mulf"(%arg0, %arg1)
// CHECK: indexing_maps = [#{{.*}}, #[[ROW]], #{{.*}}]
func.func @broadcast(%x: tensor<4x8xf32>, %r: tensor<4xf32>) -> tensor<4x8xf32> {
  %b = tg.broadcast %r dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %y = arith.mulf %x, %b : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// A dim of size 1 that is repeated is dropped by a view.
// CHECK-LABEL: @unit_dim
// CHECK: %[[V:.*]] = exec.view %arg1 offset 0 strides [1] : tensor<4x1xf32> -> tensor<4xf32>
// CHECK: exec.kernel "mulf"(%arg0, %[[V]])
func.func @unit_dim(%x: tensor<4x8xf32>, %r: tensor<4x1xf32>) -> tensor<4x8xf32> {
  %b = tg.broadcast %r dims [0, 1] : tensor<4x1xf32> -> tensor<4x8xf32>
  %y = arith.mulf %x, %b : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// Over everything: lanes first.
// CHECK-LABEL: @mean
// CHECK: exec.kernel "reduce"(%arg0) space [4, 8] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK: exec.kernel "reduce"(%{{.*}}) space [4] : (tensor<4xf32>) -> tensor<f32>
// CHECK: arith.constant 3.125000e-02
func.func @mean(%x: tensor<4x8xf32>) -> tensor<f32> {
  %y = tg.reduce mean %x dims [0, 1] : tensor<4x8xf32> -> tensor<f32>
  return %y : tensor<f32>
}

// -----

// Rows are split into 16 blocks, and their partials summed in order.
// CHECK-LABEL: @bias_gradient
// CHECK: %[[V:.*]] = exec.view %arg0 offset 0 strides [512, 128, 8, 1] : tensor<4x64x8xf32> -> tensor<4x4x16x8xf32>
// CHECK: %[[P:.*]] = exec.kernel "reduce"(%[[V]]) space [4, 4, 16, 8] : (tensor<4x4x16x8xf32>) -> tensor<4x4x8xf32>
// CHECK: iterator_types = ["parallel", "parallel", "reduction", "parallel"]
// CHECK: exec.kernel "reduce"(%[[P]]) space [4, 4, 8] : (tensor<4x4x8xf32>) -> tensor<8xf32>
func.func @bias_gradient(%x: tensor<4x64x8xf32>) -> tensor<8xf32> {
  %y = tg.reduce sum %x dims [0, 1] : tensor<4x64x8xf32> -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// Rows that stay are the blocks: they come first in the space.
// CHECK: #[[SWAP:.*]] = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
// CHECK-LABEL: @position_gradient
// CHECK: exec.kernel "reduce"(%arg0) space [64, 4, 8]
// CHECK: indexing_maps = [#[[SWAP]]
// CHECK-SAME: iterator_types = ["parallel", "reduction", "parallel"]
func.func @position_gradient(%x: tensor<4x64x8xf32>) -> tensor<64x8xf32> {
  %y = tg.reduce sum %x dims [0] : tensor<4x64x8xf32> -> tensor<64x8xf32>
  return %y : tensor<64x8xf32>
}

// -----

// CHECK-LABEL: @random
// CHECK: exec.kernel "random_uniform"(%arg0) space [4, 8]
// CHECK: exec.random_uniform %{{.*}}[%{{.*}}, %{{.*}}] strides [8, 1] count 32 stream 3
func.func @random(%key: tensor<4xi32>) -> tensor<4x8xf32> {
  %u = tg.random_uniform %key stream 3 : tensor<4xi32> -> tensor<4x8xf32>
  return %u : tensor<4x8xf32>
}

// -----

// bf16 is summed in f32.
// CHECK-LABEL: @bf16
// CHECK: linalg.fill ins(%{{.*}} : f32)
// CHECK: arith.extf
// CHECK: arith.truncf
func.func @bf16(%x: tensor<4x8xbf16>) -> tensor<4xbf16> {
  %y = tg.reduce sum %x dims [1] : tensor<4x8xbf16> -> tensor<4xbf16>
  return %y : tensor<4xbf16>
}

// -----

// A result that is no action's is copied; a parameter that is its own update is not.
// CHECK-LABEL: @results
// CHECK: %[[C:.*]] = exec.kernel "copy"
// CHECK: %[[F:.*]] = exec.kernel "fill"
// CHECK: return %[[C]], %arg1, %[[F]]
func.func @results(%x: tensor<4x8xf32>, %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
    -> (tensor<8x4xf32>, tensor<4xf32> {tg.updates = "w"}, tensor<4xf32>) {
  %t = tg.transpose %x [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %z = arith.constant dense<0.0> : tensor<4xf32>
  return %t, %w, %z : tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Equal scalar arithmetic is one kernel.
// CHECK-LABEL: @scalars
// CHECK-COUNT-1: exec.kernel "exp"
// CHECK-NOT: exec.kernel "exp"
func.func @scalars(%x: tensor<f32>) -> tensor<f32> {
  %a = math.exp %x : tensor<f32>
  %b = math.exp %x : tensor<f32>
  %y = arith.addf %a, %b : tensor<f32>
  return %y : tensor<f32>
}

// -----

// Equal sums over everything are computed once, and what they are made from is not kept.
// CHECK-LABEL: @counts
// CHECK-COUNT-2: exec.kernel "reduce"
// CHECK-NOT: "reduce"
// CHECK: return
func.func @counts(%targets: tensor<8x16xi32>, %x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %ignored = arith.constant dense<-100> : tensor<8x16xi32>
  %one = arith.constant dense<1.0> : tensor<8x16xf32>
  %zero = arith.constant dense<0.0> : tensor<8x16xf32>
  %m0 = arith.cmpi ne, %targets, %ignored : tensor<8x16xi32>
  %f0 = arith.select %m0, %one, %zero : tensor<8x16xi1>, tensor<8x16xf32>
  %n0 = tg.reduce sum %f0 dims [0, 1] : tensor<8x16xf32> -> tensor<f32>
  %a = arith.divf %x, %n0 : tensor<f32>
  %m1 = arith.cmpi ne, %targets, %ignored : tensor<8x16xi32>
  %f1 = arith.select %m1, %one, %zero : tensor<8x16xi1>, tensor<8x16xf32>
  %n1 = tg.reduce sum %f1 dims [0, 1] : tensor<8x16xf32> -> tensor<f32>
  %b = arith.divf %y, %n1 : tensor<f32>
  return %a, %b : tensor<f32>, tensor<f32>
}

// -----

// A sum in f32 of what is stored in bf16 reads bf16.
// CHECK-LABEL: @sum_of_bf16
// CHECK-NOT: "copy"
// CHECK: exec.kernel "reduce"(%arg0) {{.*}} : (tensor<4x8xbf16>) -> tensor<4xf32>
// CHECK: arith.extf
// CHECK: arith.addf
func.func @sum_of_bf16(%x: tensor<4x8xbf16>) -> tensor<4xf32> {
  %w = tg.convert %x : tensor<4x8xbf16> -> tensor<4x8xf32>
  %y = tg.reduce sum %w dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// What actions write side by side is returned in any shape as it is; an argument among them is copied.
// CHECK-LABEL: @joined
// CHECK: %[[JOINED:.*]] = exec.concat
// CHECK: %[[VIEW:.*]] = exec.view %[[JOINED]]
// CHECK-NOT: exec.kernel
// CHECK: return %[[VIEW]]
func.func @joined(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x2x2xf32> {
  %a = tg.contract "bi,io->bo" %x, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %b = tg.contract "bi,io->bo" %y, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %c = tg.concat %a, %b dim 0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %r = tg.reshape %c : tensor<4x4xf32> -> tensor<4x2x2xf32>
  return %r : tensor<4x2x2xf32>
}

// CHECK-LABEL: @joined_argument
// CHECK: exec.kernel "copy"
func.func @joined_argument(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x2x2xf32> {
  %a = tg.contract "bi,io->bo" %x, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %c = tg.concat %a, %y dim 0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %r = tg.reshape %c : tensor<4x4xf32> -> tensor<4x2x2xf32>
  return %r : tensor<4x2x2xf32>
}
