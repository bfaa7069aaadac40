// Parts that are side by side in a weight become a dim of their own.
//
// RUN: split-file %s %t
// RUN: braid-opt %t/model.mlir --tg-unfuse-weights | FileCheck %t/model.mlir
// RUN: braid-opt %t/model.mlir --tg-unfuse-weights --tg-unfuse-weights | FileCheck %t/model.mlir
// RUN: braid-interp %t/model.mlir --function=qkv --compare --pipeline=tg-unfuse-weights 2>&1 | FileCheck %s --check-prefix=AGREE
// RUN: not braid-opt %t/late.mlir --tg-unfuse-weights 2>&1 | FileCheck %t/late.mlir
// AGREE: results agree

//--- model.mlir
// The weight, its bias, and what is computed from them.
// CHECK-LABEL: @qkv
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<8x3x4xf32> {tg.param = #tg.param<"w", #tg.init<normal, {{[0-9.e+, -]*}}>, unit = "h", fused = 1>}
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<3x4xf32> {tg.param = #tg.param<"b", #tg.init<normal, {{[0-9.e+, -]*}}>, fused = 0>}
// CHECK: %[[P:.*]] = tg.contract "bsd,dae->bsae" %{{.*}}, %[[W]] : (tensor<2x3x8xf32>, tensor<8x3x4xf32>) -> tensor<2x3x3x4xf32>
// CHECK: %[[R:.*]] = tg.broadcast %[[B]] dims [2, 3] : tensor<3x4xf32> -> tensor<2x3x3x4xf32>
// CHECK: %[[Y:.*]] = arith.addf %[[P]], %[[R]] : tensor<2x3x3x4xf32>
// CHECK: %[[V:.*]] = tg.slice %[[Y]] dim 2 offset 2 size 1
// CHECK: tg.reshape %[[V]] : tensor<2x3x1x4xf32> -> tensor<2x3x4xf32>
// CHECK: tg.slice %[[Y]] dim 2 offset 0 size 1
func.func @qkv(%x: tensor<2x3x8xf32> {tg.input = "x"},
               %w: tensor<8x12xf32> {tg.param = #tg.param<"w", #tg.init<normal, 0.0, 0.5>, unit = "h">},
               %b: tensor<12xf32> {tg.param = #tg.param<"b", #tg.init<normal, 0.0, 0.5>>}) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>) {
  %p = tg.contract "bsd,de->bse" %x, %w : (tensor<2x3x8xf32>, tensor<8x12xf32>) -> tensor<2x3x12xf32>
  %r = tg.broadcast %b dims [2] : tensor<12xf32> -> tensor<2x3x12xf32>
  %y = arith.addf %p, %r : tensor<2x3x12xf32>
  %v = tg.slice %y dim 2 offset 8 size 4 : tensor<2x3x12xf32> -> tensor<2x3x4xf32>
  %q = tg.slice %y dim 2 offset 0 size 4 : tensor<2x3x12xf32> -> tensor<2x3x4xf32>
  return %v, %q : tensor<2x3x4xf32>, tensor<2x3x4xf32>
}

// An annotation keeps its dims.
// CHECK-LABEL: @annotated
// CHECK-SAME: tensor<8x2x4xf32> {comm.sharding = #comm.sharding<@mesh, {} {} {tp}>
comm.mesh @mesh [tp = 2]
func.func @annotated(%x: tensor<2x8xf32> {tg.input = "x"},
    %w: tensor<8x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>, tg.param = #tg.param<"w", #tg.init<ones>>}) -> tensor<2x4xf32> {
  %p = tg.contract "bd,de->be" %x, %w : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %v = tg.slice %p dim 1 offset 4 size 4 : tensor<2x8xf32> -> tensor<2x4xf32>
  return %v : tensor<2x4xf32>
}

// Left alone: slices of two sizes, a weight that is read otherwise, a sum over what is sliced,
// and slices of an input.
// CHECK-LABEL: @left_alone
// CHECK-NOT: fused
// CHECK-NOT: tg.reshape
// CHECK: return
func.func @left_alone(%x: tensor<2x8xf32> {tg.input = "x"},
                      %a: tensor<8x6xf32> {tg.param = #tg.param<"a", #tg.init<ones>>},
                      %b: tensor<8x6xf32> {tg.param = #tg.param<"b", #tg.init<ones>>},
                      %c: tensor<8x6xf32> {tg.param = #tg.param<"c", #tg.init<ones>>})
    -> (tensor<2x4xf32>, tensor<2x2xf32>, tensor<2x3xf32>, tensor<f32>, tensor<2x3xf32>, tensor<2x6xf32>, tensor<2x4xf32>) {
  %pa = tg.contract "bd,de->be" %x, %a : (tensor<2x8xf32>, tensor<8x6xf32>) -> tensor<2x6xf32>
  %q = tg.slice %pa dim 1 offset 0 size 4 : tensor<2x6xf32> -> tensor<2x4xf32>
  %k = tg.slice %pa dim 1 offset 4 size 2 : tensor<2x6xf32> -> tensor<2x2xf32>
  %pb = tg.contract "bd,de->be" %x, %b : (tensor<2x8xf32>, tensor<8x6xf32>) -> tensor<2x6xf32>
  %read = tg.slice %pb dim 1 offset 0 size 3 : tensor<2x6xf32> -> tensor<2x3xf32>
  %sum = tg.reduce sum %b dims [0, 1] : tensor<8x6xf32> -> tensor<f32>
  %pc = tg.contract "bd,de->be" %x, %c : (tensor<2x8xf32>, tensor<8x6xf32>) -> tensor<2x6xf32>
  %soft = tg.softmax %pc : tensor<2x6xf32>
  %part = tg.slice %soft dim 1 offset 0 size 3 : tensor<2x6xf32> -> tensor<2x3xf32>
  %half = tg.slice %x dim 1 offset 0 size 4 : tensor<2x8xf32> -> tensor<2x4xf32>
  return %q, %k, %read, %sum, %part, %pc, %half
      : tensor<2x4xf32>, tensor<2x2xf32>, tensor<2x3xf32>, tensor<f32>, tensor<2x3xf32>, tensor<2x6xf32>, tensor<2x4xf32>
}

//--- late.mlir
// CHECK: late.mlir:2:1: error: weights of 'f' have gradients already; run tg-unfuse-weights before tg-differentiate
func.func @f(%w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> (tensor<4xf32> {tg.grad_of = "w"}) {
  return %w : tensor<4xf32>
}
