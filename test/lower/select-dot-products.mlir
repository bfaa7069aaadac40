// A matrix times a vector becomes products and sums; other contractions are left alone.
// RUN: braid-opt %s --exec-select-dot-products | FileCheck %s
// RUN: braid-interp %s --compare --pipeline=exec-select-dot-products --rtol=1e-5

// Either operand may be the matrix, and several dims contracted.
// CHECK-LABEL: @vectors
// CHECK-NOT: tg.contract
// CHECK: tg.reduce sum %{{.*}} dims [1] : tensor<6x4xf32> -> tensor<6xf32>
// CHECK: tg.reduce sum %{{.*}} dims [1] : tensor<6x4xf32> -> tensor<6xf32>
// CHECK: tg.reduce sum %{{.*}} dims [1] : tensor<5x12xf32> -> tensor<5xf32>
func.func @vectors(%w: tensor<6x4xf32>, %x: tensor<1x1x4xf32>, %m: tensor<5x3x4xf32>, %v: tensor<3x4xf32>)
    -> (tensor<1x1x6xf32>, tensor<6x1x1xf32>, tensor<5xf32>) {
  %0 = tg.contract "bsd,ed->bse" %x, %w : (tensor<1x1x4xf32>, tensor<6x4xf32>) -> tensor<1x1x6xf32>
  %1 = tg.contract "ed,bsd->ebs" %w, %x : (tensor<6x4xf32>, tensor<1x1x4xf32>) -> tensor<6x1x1xf32>
  %2 = tg.contract "aij,ij->a" %m, %v : (tensor<5x3x4xf32>, tensor<3x4xf32>) -> tensor<5xf32>
  return %0, %1, %2 : tensor<1x1x6xf32>, tensor<6x1x1xf32>, tensor<5xf32>
}

// A program that trains.
// CHECK-LABEL: @training
// CHECK: tg.contract
func.func @training(%w: tensor<6x4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}, %x: tensor<4xf32>)
    -> (tensor<6xf32>, tensor<6x4xf32> {tg.updates = "w"}) {
  %0 = tg.contract "d,ed->e" %x, %w : (tensor<4xf32>, tensor<6x4xf32>) -> tensor<6xf32>
  return %0, %w : tensor<6xf32>, tensor<6x4xf32>
}

// Two rows, a matrix whose rows are not contracted, dims in another order, an outer product, batches.
// CHECK-LABEL: @others
// CHECK-COUNT-5: tg.contract
func.func @others(%w: tensor<6x4xf32>, %x: tensor<1x2x4xf32>, %v: tensor<6xf32>, %m: tensor<5x3x4xf32>,
                  %t: tensor<4x3xf32>, %u: tensor<4xf32>)
    -> (tensor<1x2x6xf32>, tensor<4xf32>, tensor<5xf32>, tensor<6x4xf32>, tensor<5x3xf32>) {
  %0 = tg.contract "bsd,ed->bse" %x, %w : (tensor<1x2x4xf32>, tensor<6x4xf32>) -> tensor<1x2x6xf32>
  %1 = tg.contract "e,ed->d" %v, %w : (tensor<6xf32>, tensor<6x4xf32>) -> tensor<4xf32>
  %2 = tg.contract "aij,ji->a" %m, %t : (tensor<5x3x4xf32>, tensor<4x3xf32>) -> tensor<5xf32>
  %3 = tg.contract "a,b->ab" %v, %u : (tensor<6xf32>, tensor<4xf32>) -> tensor<6x4xf32>
  %4 = tg.contract "aij,aij->ai" %m, %m : (tensor<5x3x4xf32>, tensor<5x3x4xf32>) -> tensor<5x3xf32>
  return %0, %1, %2, %3, %4 : tensor<1x2x6xf32>, tensor<4xf32>, tensor<5xf32>, tensor<6x4xf32>, tensor<5x3xf32>
}
