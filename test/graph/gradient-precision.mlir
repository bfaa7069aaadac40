// The type in which gradients of parameters are stored and added up.
//
// RUN: braid-opt %s --tg-gradient-precision=type=f32 --split-input-file | FileCheck %s --check-prefix=F32
// RUN: braid-opt %s --tg-gradient-precision=type=bf16 --split-input-file | FileCheck %s --check-prefix=BF16

// In f32: a table that is read twice.  The matmul gives f32, the rows are added in
// f32, and so are the two.
// F32-LABEL: func.func @tied
// F32-DAG: %[[C:.*]] = tg.contract {{.*}} : (tensor<4x16xbf16>, tensor<4x8xbf16>) -> tensor<16x8xf32>
// F32-DAG: %[[W:.*]] = tg.convert %{{.*}} : tensor<4x8xbf16> -> tensor<4x8xf32>
// F32-DAG: %[[S:.*]] = tg.scatter_add %{{.*}}, %[[W]] : (tensor<4xi32>, tensor<4x8xf32>) -> tensor<16x8xf32>
// F32: %[[G:.*]] = arith.addf %[[C]], %[[S]] : tensor<16x8xf32>
// F32: return %[[G]] : tensor<16x8xf32>
// BF16-LABEL: func.func @tied
// BF16-SAME: -> (tensor<16x8xbf16> {tg.grad_of = "e"})
// BF16: %[[G:.*]] = arith.addf {{.*}} : tensor<16x8xbf16>
// BF16-NEXT: return %[[G]] : tensor<16x8xbf16>
func.func @tied(%x: tensor<4x8xbf16>, %dl: tensor<4x16xbf16>, %dx: tensor<4x8xbf16>, %i: tensor<4xi32>,
                %e: tensor<16x8xf32> {tg.param = #tg.param<"e", #tg.init<ones>>}) -> (tensor<16x8xf32> {tg.grad_of = "e"}) {
  %c = tg.contract "bv,bd->vd" %dl, %x : (tensor<4x16xbf16>, tensor<4x8xbf16>) -> tensor<16x8xbf16>
  %s = tg.scatter_add %i, %dx : (tensor<4xi32>, tensor<4x8xbf16>) -> tensor<16x8xbf16>
  %a = arith.addf %c, %s : tensor<16x8xbf16>
  %g = tg.convert %a : tensor<16x8xbf16> -> tensor<16x8xf32>
  return %g : tensor<16x8xf32>
}

// -----

// A norm's gradient is f32 before it is rounded; a matmul with other readers is
// not computed twice.
// F32-LABEL: func.func @others
// F32-SAME: %[[N:[a-z0-9]+]]: tensor<2xf32>
// F32: %[[C:.*]] = tg.contract {{.*}} -> tensor<2x2xbf16>
// F32: %[[W:.*]] = tg.convert %[[C]]
// F32: return %[[N]], %[[W]], %[[C]]
// BF16-LABEL: func.func @others
// BF16-SAME: %[[N:[a-z0-9]+]]: tensor<2xf32>
// BF16-SAME: -> (tensor<2xbf16> {tg.grad_of = "n"}, tensor<2x2xbf16> {tg.grad_of = "w"}, tensor<2x2xbf16>)
// BF16: %[[B:.*]] = tg.convert %[[N]] : tensor<2xf32> -> tensor<2xbf16>
// BF16: %[[C:.*]] = tg.contract
// BF16: return %[[B]], %[[C]], %[[C]]
func.func @others(%dn: tensor<2xf32>, %a: tensor<2x2xbf16>, %n: tensor<2xf32> {tg.param = #tg.param<"n", #tg.init<ones>>},
                  %w: tensor<2x2xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
    -> (tensor<2xf32> {tg.grad_of = "n"}, tensor<2x2xf32> {tg.grad_of = "w"}, tensor<2x2xbf16>) {
  %b = tg.convert %dn : tensor<2xf32> -> tensor<2xbf16>
  %gn = tg.convert %b : tensor<2xbf16> -> tensor<2xf32>
  %c = tg.contract "ab,bc->ac" %a, %a : (tensor<2x2xbf16>, tensor<2x2xbf16>) -> tensor<2x2xbf16>
  %gw = tg.convert %c : tensor<2x2xbf16> -> tensor<2x2xf32>
  return %gn, %gw, %c : tensor<2xf32>, tensor<2x2xf32>, tensor<2x2xbf16>
}

// -----

// Left alone: gradients of inputs, and of what is f64.
// F32-LABEL: func.func @inputs
// BF16-LABEL: func.func @inputs
// BF16-SAME: -> (tensor<2xf32> {tg.grad_of = "x"}, tensor<2xf64> {tg.grad_of = "d"})
// BF16-NEXT: return
func.func @inputs(%x: tensor<2xf32> {tg.input = "x", tg.grad}, %d: tensor<2xf64> {tg.param = #tg.param<"d", #tg.init<ones>>})
    -> (tensor<2xf32> {tg.grad_of = "x"}, tensor<2xf64> {tg.grad_of = "d"}) {
  return %x, %d : tensor<2xf32>, tensor<2xf64>
}
