// Contractions of one tensor with several weights become one.
// RUN: braid-opt %s --tg-merge-contractions --split-input-file | FileCheck %s

// q, k and v: weights in the order of arguments, whatever the order of the contractions.
// CHECK-LABEL: @qkv
// CHECK: %[[W:.*]] = tg.concat %arg1, %arg2, %arg3 dim 0 : (tensor<8x8xf32>, tensor<16x8xf32>, tensor<8x8xf32>) -> tensor<32x8xf32>
// CHECK: %[[Y:.*]] = tg.contract "bsd,fd->bsf" %arg0, %[[W]]
// CHECK-DAG: %[[Q:.*]] = tg.slice %[[Y]] dim 2 offset 0 size 8
// CHECK-DAG: %[[K:.*]] = tg.slice %[[Y]] dim 2 offset 8 size 16
// CHECK-DAG: %[[V:.*]] = tg.slice %[[Y]] dim 2 offset 24 size 8
// CHECK-NOT: tg.contract
// CHECK: return %[[Q]], %[[K]], %[[V]]
func.func @qkv(%x: tensor<2x4x8xf32>, %q: tensor<8x8xf32> {tg.param = #tg.param<"q", #tg.init<ones>, unit = "h.0">},
               %k: tensor<16x8xf32> {tg.param = #tg.param<"k", #tg.init<ones>, unit = "h.0">},
               %v: tensor<8x8xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "h.0">})
    -> (tensor<2x4x8xf32>, tensor<2x4x16xf32>, tensor<2x4x8xf32>) {
  %2 = tg.contract "bsd,fd->bsf" %x, %v : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
  %0 = tg.contract "bsd,fd->bsf" %x, %q : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
  %1 = tg.contract "bsd,fd->bsf" %x, %k : (tensor<2x4x8xf32>, tensor<16x8xf32>) -> tensor<2x4x16xf32>
  return %0, %1, %2 : tensor<2x4x8xf32>, tensor<2x4x16xf32>, tensor<2x4x8xf32>
}

// -----

// Weights that are read in bf16: what is concatenated becomes the working copies.
// CHECK-LABEL: @narrowed
// CHECK: tg.concat %{{.*}}, %{{.*}} dim 0 : (tensor<16x8xbf16>, tensor<16x8xbf16>) -> tensor<32x8xbf16>
// CHECK: tg.contract "bd,fd->bf"
// CHECK-NOT: tg.contract
func.func @narrowed(%x: tensor<4x8xbf16>, %a: tensor<16x8xf32> {tg.param = #tg.param<"a", #tg.init<ones>>},
                    %b: tensor<16x8xf32> {tg.param = #tg.param<"b", #tg.init<ones>>})
    -> (tensor<4x16xbf16>, tensor<4x16xbf16>) {
  %wa = tg.convert %a : tensor<16x8xf32> -> tensor<16x8xbf16>
  %y = tg.contract "bd,fd->bf" %x, %wa : (tensor<4x8xbf16>, tensor<16x8xbf16>) -> tensor<4x16xbf16>
  %wb = tg.convert %b : tensor<16x8xf32> -> tensor<16x8xbf16>
  %z = tg.contract "bd,fd->bf" %x, %wb : (tensor<4x8xbf16>, tensor<16x8xbf16>) -> tensor<4x16xbf16>
  return %y, %z : tensor<4x16xbf16>, tensor<4x16xbf16>
}

// -----

// Left alone: another tensor, another unit, a bias, a weight that is read twice, one that is
// stored k x n, and one after which no other may begin (the alignment is 64 bytes).
// CHECK-LABEL: @left_alone
// CHECK-NOT: tg.concat
// CHECK-COUNT-8: tg.contract
// CHECK: return
func.func @left_alone(%x: tensor<4x8xf32>, %other: tensor<4x8xf32>, %bias: tensor<8xf32> {tg.param = #tg.param<"bias", #tg.init<ones>>},
                      %a: tensor<8x8xf32> {tg.param = #tg.param<"a", #tg.init<ones>>},
                      %b: tensor<8x8xf32> {tg.param = #tg.param<"b", #tg.init<ones>>},
                      %c: tensor<8x8xf32> {tg.param = #tg.param<"c", #tg.init<ones>, unit = "h.1">},
                      %d: tensor<8x8xf32> {tg.param = #tg.param<"d", #tg.init<ones>>},
                      %e: tensor<8x8xf32> {tg.param = #tg.param<"e", #tg.init<ones>>},
                      %f: tensor<8x8xf32> {tg.param = #tg.param<"f", #tg.init<ones>>},
                      %g: tensor<1x8xf32> {tg.param = #tg.param<"g", #tg.init<ones>>})
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x1xf32>) {
  %0 = tg.contract "bd,fd->bf" %x, %a : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = tg.contract "bd,fd->bf" %other, %b : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %2 = tg.contract "bd,fd->bf" %x, %c : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %product = tg.contract "bd,fd->bf" %x, %d : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %rows = tg.broadcast %bias dims [1] : tensor<8xf32> -> tensor<4x8xf32>
  %3 = arith.addf %product, %rows : tensor<4x8xf32>
  %4 = tg.contract "bd,fd->bf" %x, %e : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %5 = tg.contract "bd,fd->bf" %other, %e : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %6 = tg.contract "bd,df->bf" %x, %f : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %7 = tg.contract "bd,fd->bf" %x, %g : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x1xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x1xf32>
}

// -----

// A frozen weight has no gradient: it stays apart from those that are trained.
// CHECK-LABEL: @frozen
// CHECK: tg.concat %arg1, %arg3 dim 0
// CHECK: tg.contract "bd,fd->bf" %arg0, %arg2
func.func @frozen(%x: tensor<4x8xf32>, %a: tensor<16x8xf32> {tg.param = #tg.param<"a", #tg.init<ones>>},
                  %b: tensor<16x8xf32> {tg.param = #tg.param<"b", #tg.init<ones>, frozen>},
                  %c: tensor<16x8xf32> {tg.param = #tg.param<"c", #tg.init<ones>>})
    -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>) {
  %y = tg.contract "bd,fd->bf" %x, %a : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %z = tg.contract "bd,fd->bf" %x, %b : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %w = tg.contract "bd,fd->bf" %x, %c : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  return %y, %z, %w : tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>
}
