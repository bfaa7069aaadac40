// The last contraction, the loss and their gradients by chunks of rows.
// RUN: braid-opt %s --tg-chunk-loss=rows=4 --split-input-file | FileCheck %s
// RUN: braid-opt %s --tg-chunk-loss=rows=4 --split-input-file 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: braid-interp %s --compare --pipeline='tg-chunk-loss{rows=4}' --rtol=1e-6 --seeds=3
// RUN: braid-interp %s --compare --pipeline='tg-chunk-loss{rows=1}' --rtol=1e-6 --seeds=3

// Forward and backward in one pass over a chunk; a mean divides the sum of all chunks by the number of
// targets, which all chunks need.
// CHECK-LABEL: @backward
// CHECK-DAG: tg.count
// CHECK: tg.slice %arg0 dim 0 offset 0 size 4
// CHECK: %[[L0:.*]] = tg.contract "bd,vd->bv" {{.*}} -> tensor<4x5xf32>
// CHECK: tg.cross_entropy sum %[[L0]]
// CHECK: %[[G0:.*]] = tg.cross_entropy_grad sum %[[L0]]
// CHECK: %[[X0:.*]] = tg.contract "bv,vd->bd" %[[G0]]
// CHECK: %[[W0:.*]] = tg.contract "bv,bd->vd" %[[G0]]
// CHECK: tg.slice %arg0 dim 0 offset 4 size 4
// CHECK: %[[L1:.*]] = tg.contract "bd,vd->bv"
// CHECK: %[[G1:.*]] = tg.cross_entropy_grad sum %[[L1]]
// CHECK: %[[X1:.*]] = tg.contract "bv,vd->bd" %[[G1]]
// CHECK: %[[W1:.*]] = tg.contract "bv,bd->vd" %[[G1]]
// CHECK: %[[W:.*]] = arith.addf %[[W0]], %[[W1]] : tensor<5x3xf32>
// CHECK: %[[X:.*]] = tg.concat %[[X0]], %[[X1]] dim 0
// CHECK: return {{.*}}, %[[X]], %[[W]]
func.func @backward(%x: tensor<8x3xf32>, %w: tensor<5x3xf32>, %targets: tensor<8xi32> {tg.input = "targets", tg.role = #tg.role<targets>})
    -> (tensor<f32>, tensor<8x3xf32>, tensor<5x3xf32>) {
  %one = arith.constant dense<1.0> : tensor<f32>
  %logits = tg.contract "bd,vd->bv" %x, %w : (tensor<8x3xf32>, tensor<5x3xf32>) -> tensor<8x5xf32>
  %loss, %lse = tg.cross_entropy mean %logits, %targets ignore -100 : (tensor<8x5xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  %dlogits = tg.cross_entropy_grad mean %logits, %targets, %lse, %one ignore -100
      : (tensor<8x5xf32>, tensor<8xi32>, tensor<8xf32>, tensor<f32>) -> tensor<8x5xf32>
  %dx = tg.contract "bv,vd->bd" %dlogits, %w : (tensor<8x5xf32>, tensor<5x3xf32>) -> tensor<8x3xf32>
  %dw = tg.contract "bv,bd->vd" %dlogits, %x : (tensor<8x5xf32>, tensor<8x3xf32>) -> tensor<5x3xf32>
  return %loss, %dx, %dw : tensor<f32>, tensor<8x3xf32>, tensor<5x3xf32>
}

// -----

// Of a batch of sequences, examples; what lies between the contraction and the loss goes along, and what
// is added to the gradient of the weight is added to by chunks.
// CHECK-LABEL: @capped
// CHECK: tg.contract "bsd,vd->bsv" {{.*}} -> tensor<1x4x5xf32>
// CHECK: math.tanh {{.*}} : tensor<1x4x5xf32>
// CHECK: %[[W0:.*]] = tg.contract "bsv,bsd->vd"
// CHECK: %[[A0:.*]] = arith.addf %arg3, %[[W0]]
// CHECK: tg.contract "bsd,vd->bsv" {{.*}} -> tensor<1x4x5xf32>
// CHECK: %[[W1:.*]] = tg.contract "bsv,bsd->vd"
// CHECK: %[[A1:.*]] = arith.addf %[[A0]], %[[W1]]
// CHECK: return {{.*}}, %[[A1]]
func.func @capped(%x: tensor<2x4x3xf32>, %w: tensor<5x3xf32>, %targets: tensor<2x4xi32> {tg.input = "targets", tg.role = #tg.role<targets>},
                  %acc: tensor<5x3xf32>) -> (tensor<f32>, tensor<5x3xf32>) {
  %one = arith.constant dense<1.0> : tensor<f32>
  %z = tg.contract "bsd,vd->bsv" %x, %w : (tensor<2x4x3xf32>, tensor<5x3xf32>) -> tensor<2x4x5xf32>
  %logits = math.tanh %z : tensor<2x4x5xf32>
  %loss, %lse = tg.cross_entropy sum %logits, %targets ignore -100 : (tensor<2x4x5xf32>, tensor<2x4xi32>) -> (tensor<f32>, tensor<2x4xf32>)
  %dlogits = tg.cross_entropy_grad sum %logits, %targets, %lse, %one ignore -100
      : (tensor<2x4x5xf32>, tensor<2x4xi32>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x4x5xf32>
  %dz = arith.mulf %dlogits, %logits : tensor<2x4x5xf32>
  %dw = tg.contract "bsv,bsd->vd" %dz, %x : (tensor<2x4x5xf32>, tensor<2x4x3xf32>) -> tensor<5x3xf32>
  %sum = arith.addf %acc, %dw : tensor<5x3xf32>
  return %loss, %sum : tensor<f32>, tensor<5x3xf32>
}

// -----

// The gradient needs the loss of all rows: the loss squared.
// REMARK: remark: 'tg.cross_entropy' is computed from all rows at once: 'tg.cross_entropy_grad' needs a value computed from all rows
// CHECK-LABEL: @squared
// CHECK: tg.contract {{.*}} -> tensor<8x5xf32>
func.func @squared(%x: tensor<8x3xf32>, %w: tensor<5x3xf32>, %targets: tensor<8xi32> {tg.input = "targets", tg.role = #tg.role<targets>})
    -> (tensor<f32>, tensor<5x3xf32>) {
  %logits = tg.contract "bd,vd->bv" %x, %w : (tensor<8x3xf32>, tensor<5x3xf32>) -> tensor<8x5xf32>
  %loss, %lse = tg.cross_entropy sum %logits, %targets ignore -100 : (tensor<8x5xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  %square = arith.mulf %loss, %loss : tensor<f32>
  %dloss = arith.addf %loss, %loss : tensor<f32>
  %dlogits = tg.cross_entropy_grad sum %logits, %targets, %lse, %dloss ignore -100
      : (tensor<8x5xf32>, tensor<8xi32>, tensor<8xf32>, tensor<f32>) -> tensor<8x5xf32>
  %dw = tg.contract "bv,bd->vd" %dlogits, %x : (tensor<8x5xf32>, tensor<8x3xf32>) -> tensor<5x3xf32>
  return %square, %dw : tensor<f32>, tensor<5x3xf32>
}

// -----

// One row cannot be cut.
// REMARK: remark: 'tg.cross_entropy' is computed from all rows at once: it has a single row
// CHECK-LABEL: @single
func.func @single(%x: tensor<1x3xf32>, %w: tensor<5x3xf32>, %targets: tensor<1xi32> {tg.input = "targets", tg.role = #tg.role<targets>}) -> tensor<f32> {
  %logits = tg.contract "bd,vd->bv" %x, %w : (tensor<1x3xf32>, tensor<5x3xf32>) -> tensor<1x5xf32>
  %loss, %lse = tg.cross_entropy sum %logits, %targets ignore -100 : (tensor<1x5xf32>, tensor<1xi32>) -> (tensor<f32>, tensor<1xf32>)
  return %loss : tensor<f32>
}
