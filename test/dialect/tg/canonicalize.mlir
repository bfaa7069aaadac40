// What --canonicalize does to tg ops, and what it leaves alone.
//
// RUN: braid-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @identities
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %{{.*}}: tensor<4xi32>)
// CHECK-NEXT: return %[[X]] :
func.func @identities(%x: tensor<4x8xf32>, %key: tensor<4xi32>) -> tensor<4x8xf32> {
  %0 = tg.transpose %x [0, 1] : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = tg.reshape %0 : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = tg.slice %1 dim 1 offset 0 size 8 : tensor<4x8xf32> -> tensor<4x8xf32>
  %3 = tg.pad %2 dim 1 low 0 high 0 value 0.0 : tensor<4x8xf32> -> tensor<4x8xf32>
  %4 = tg.broadcast %3 dims [0, 1] : tensor<4x8xf32> -> tensor<4x8xf32>
  %5 = tg.convert %4 : tensor<4x8xf32> -> tensor<4x8xf32>
  %6 = tg.reduce max %5 dims [] : tensor<4x8xf32> -> tensor<4x8xf32>
  %7 = tg.concat %6 dim 0 : tensor<4x8xf32> -> tensor<4x8xf32>
  %8 = tg.dropout %7, %key rate 0.0 stream 0 : (tensor<4x8xf32>, tensor<4xi32>) -> tensor<4x8xf32>
  return %8 : tensor<4x8xf32>
}

// CHECK-LABEL: @chains
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4xf32>, %[[V:.*]]: tensor<4xf32>)
func.func @chains(%x: tensor<2x3x4xf32>, %v: tensor<4xf32>)
    -> (tensor<3x4x2xf32>, tensor<24xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) {
  // CHECK: %[[T:.*]] = tg.transpose %[[X]] [1, 2, 0]
  %0 = tg.transpose %x [2, 0, 1] : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
  %1 = tg.transpose %0 [2, 0, 1] : tensor<4x2x3xf32> -> tensor<3x4x2xf32>
  // CHECK: %[[R:.*]] = tg.reshape %[[X]] : tensor<2x3x4xf32> -> tensor<24xf32>
  %2 = tg.reshape %x : tensor<2x3x4xf32> -> tensor<6x4xf32>
  %3 = tg.reshape %2 : tensor<6x4xf32> -> tensor<24xf32>
  // CHECK: %[[B:.*]] = tg.broadcast %[[V]] dims [2] : tensor<4xf32> -> tensor<2x3x4xf32>
  %4 = tg.broadcast %v dims [1] : tensor<4xf32> -> tensor<3x4xf32>
  %5 = tg.broadcast %4 dims [1, 2] : tensor<3x4xf32> -> tensor<2x3x4xf32>
  // A transpose and a reshape that undo what came before leave nothing.
  %6 = tg.transpose %0 [1, 2, 0] : tensor<4x2x3xf32> -> tensor<2x3x4xf32>
  %7 = tg.reshape %2 : tensor<6x4xf32> -> tensor<2x3x4xf32>
  // CHECK: return %[[T]], %[[R]], %[[B]], %[[X]], %[[X]]
  return %1, %3, %5, %6, %7 : tensor<3x4x2xf32>, tensor<24xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>
}

// CHECK-LABEL: @constants
func.func @constants() -> (tensor<2x3xf32>, tensor<3x2xf32>, tensor<2xf32>, tensor<4x1xi32>, tensor<2xf32>, tensor<3xbf16>, tensor<2xi64>) {
  %s = arith.constant dense<1.5> : tensor<f32>
  // CHECK-DAG: %[[A:.*]] = arith.constant dense<1.500000e+00> : tensor<2x3xf32>
  %a = tg.broadcast %s dims [] : tensor<f32> -> tensor<2x3xf32>
  // CHECK-DAG: %[[B:.*]] = arith.constant dense<1.500000e+00> : tensor<3x2xf32>
  %b = tg.transpose %a [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
  // CHECK-DAG: %[[C:.*]] = arith.constant dense<1.500000e+00> : tensor<2xf32>
  %c = tg.reduce mean %a dims [1] : tensor<2x3xf32> -> tensor<2xf32>
  %i = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  // CHECK-DAG: %[[D:.*]] = arith.constant dense<{{\[}}[1], [2], [3], [4]]> : tensor<4x1xi32>
  %d = tg.reshape %i : tensor<4xi32> -> tensor<4x1xi32>
  %j = arith.constant dense<[true, false]> : tensor<2xi1>
  // CHECK-DAG: %[[E:.*]] = arith.constant dense<[1.000000e+00, 0.000000e+00]> : tensor<2xf32>
  %e = tg.convert %j : tensor<2xi1> -> tensor<2xf32>
  %k = arith.constant dense<0.3> : tensor<3xf32>
  // CHECK-DAG: %[[F:.*]] = arith.constant dense<3.007810e-01> : tensor<3xbf16>
  %f = tg.convert %k : tensor<3xf32> -> tensor<3xbf16>
  %l = arith.constant dense<[-1, 7]> : tensor<2xi32>
  // CHECK-DAG: %[[G:.*]] = arith.constant dense<[-1, 7]> : tensor<2xi64>
  %g = tg.convert %l : tensor<2xi32> -> tensor<2xi64>
  // CHECK: return %[[A]], %[[B]], %[[C]], %[[D]], %[[E]], %[[F]], %[[G]]
  return %a, %b, %c, %d, %e, %f, %g : tensor<2x3xf32>, tensor<3x2xf32>, tensor<2xf32>, tensor<4x1xi32>, tensor<2xf32>, tensor<3xbf16>, tensor<2xi64>
}

// A float that is out of an integer's range is the target's affair.
// CHECK-LABEL: @convert_to_integer
// CHECK: tg.convert
func.func @convert_to_integer() -> tensor<i32> {
  %a = arith.constant dense<1.0e30> : tensor<f32>
  %b = tg.convert %a : tensor<f32> -> tensor<i32>
  return %b : tensor<i32>
}

// CHECK-LABEL: @contract_operands
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x16xf32>)
// CHECK-NEXT: %[[Y:.*]] = tg.contract "bd,df->bf" %[[X]], %[[W]] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
// CHECK-NEXT: return %[[Y]]
func.func @contract_operands(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) -> tensor<4x16xf32> {
  %0 = tg.transpose %x [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %1 = tg.transpose %w [1, 0] : tensor<8x16xf32> -> tensor<16x8xf32>
  %2 = tg.contract "db,fd->bf" %0, %1 : (tensor<8x4xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  return %2 : tensor<4x16xf32>
}

// CHECK-LABEL: @contract_permutation
// CHECK: tg.contract "bshd,bthd->bhst" %{{.*}} : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>) -> tensor<2x3x5x5xf32>
func.func @contract_permutation(%q: tensor<2x5x3x4xf32>) -> tensor<2x3x5x5xf32> {
  %0 = tg.transpose %q [0, 2, 3, 1] : tensor<2x5x3x4xf32> -> tensor<2x3x4x5xf32>
  %1 = tg.transpose %q [0, 2, 1, 3] : tensor<2x5x3x4xf32> -> tensor<2x3x5x4xf32>
  %2 = tg.contract "bhds,bhtd->bhst" %0, %1 : (tensor<2x3x4x5xf32>, tensor<2x3x5x4xf32>) -> tensor<2x3x5x5xf32>
  return %2 : tensor<2x3x5x5xf32>
}

// CHECK-LABEL: @contract_result
// CHECK-NEXT: tg.contract "bd,df->fb" %{{.*}} -> tensor<16x4xf32>
// CHECK-NEXT: return
func.func @contract_result(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) -> tensor<16x4xf32> {
  %0 = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = tg.transpose %0 [1, 0] : tensor<4x16xf32> -> tensor<16x4xf32>
  return %1 : tensor<16x4xf32>
}

// The contraction is needed as it is, so it is not computed twice.
// CHECK-LABEL: @contract_result_used
// CHECK: tg.contract "bd,df->bf"
// CHECK: tg.transpose
func.func @contract_result_used(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) -> (tensor<4x16xf32>, tensor<16x4xf32>) {
  %0 = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = tg.transpose %0 [1, 0] : tensor<4x16xf32> -> tensor<16x4xf32>
  return %0, %1 : tensor<4x16xf32>, tensor<16x4xf32>
}

// What differentiation makes of q, k, v = slices of qkv.
// CHECK-LABEL: @sum_of_pads
// CHECK-SAME: (%[[Q:.*]]: tensor<2x3xf32>, %[[K:.*]]: tensor<2x1xf32>, %[[V:.*]]: tensor<2x2xf32>)
// CHECK-NEXT: %[[C:.*]] = tg.concat %[[Q]], %[[K]], %[[V]] dim 1 : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x2xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: return %[[C]]
func.func @sum_of_pads(%q: tensor<2x3xf32>, %k: tensor<2x1xf32>, %v: tensor<2x2xf32>) -> tensor<2x6xf32> {
  %0 = tg.pad %v dim 1 low 4 high 0 value 0.0 : tensor<2x2xf32> -> tensor<2x6xf32>
  %1 = tg.pad %k dim 1 low 3 high 2 value 0.0 : tensor<2x1xf32> -> tensor<2x6xf32>
  %2 = tg.pad %q dim 1 low 0 high 3 value 0.0 : tensor<2x3xf32> -> tensor<2x6xf32>
  %3 = arith.addf %0, %1 : tensor<2x6xf32>
  %4 = arith.addf %3, %2 : tensor<2x6xf32>
  return %4 : tensor<2x6xf32>
}

// CHECK-LABEL: @sum_of_pads_with_a_gap
// CHECK: arith.addf
func.func @sum_of_pads_with_a_gap(%q: tensor<2x3xf32>, %k: tensor<2x1xf32>) -> tensor<2x6xf32> {
  %0 = tg.pad %q dim 1 low 0 high 3 value 0.0 : tensor<2x3xf32> -> tensor<2x6xf32>
  %1 = tg.pad %k dim 1 low 4 high 1 value 0.0 : tensor<2x1xf32> -> tensor<2x6xf32>
  %2 = arith.addf %0, %1 : tensor<2x6xf32>
  return %2 : tensor<2x6xf32>
}

// CHECK-LABEL: @sum_of_pads_that_overlap
// CHECK: arith.addf
func.func @sum_of_pads_that_overlap(%q: tensor<2x4xf32>) -> tensor<2x6xf32> {
  %0 = tg.pad %q dim 1 low 0 high 2 value 0.0 : tensor<2x4xf32> -> tensor<2x6xf32>
  %1 = tg.pad %q dim 1 low 2 high 0 value 0.0 : tensor<2x4xf32> -> tensor<2x6xf32>
  %2 = arith.addf %0, %1 : tensor<2x6xf32>
  return %2 : tensor<2x6xf32>
}

// CHECK-LABEL: @sum_of_pads_with_ones
// CHECK: arith.addf
func.func @sum_of_pads_with_ones(%q: tensor<2x3xf32>) -> tensor<2x6xf32> {
  %0 = tg.pad %q dim 1 low 0 high 3 value 1.0 : tensor<2x3xf32> -> tensor<2x6xf32>
  %1 = tg.pad %q dim 1 low 3 high 0 value 0.0 : tensor<2x3xf32> -> tensor<2x6xf32>
  %2 = arith.addf %0, %1 : tensor<2x6xf32>
  return %2 : tensor<2x6xf32>
}

// CHECK-LABEL: @slice_of_concat
// CHECK-SAME: (%[[Q:.*]]: tensor<2x3xf32>, %[[K:.*]]: tensor<2x1xf32>)
// CHECK-NEXT: return %[[K]]
func.func @slice_of_concat(%q: tensor<2x3xf32>, %k: tensor<2x1xf32>) -> tensor<2x1xf32> {
  %0 = tg.concat %q, %k dim 1 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %1 = tg.slice %0 dim 1 offset 3 size 1 : tensor<2x4xf32> -> tensor<2x1xf32>
  return %1 : tensor<2x1xf32>
}

// CHECK-LABEL: @arithmetic
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: return %[[X]]
func.func @arithmetic(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %zeros = tg.broadcast %zero dims [] : tensor<f32> -> tensor<4xf32>
  %ones = arith.constant dense<1.0> : tensor<4xf32>
  %0 = arith.addf %zeros, %x : tensor<4xf32>
  %1 = arith.mulf %0, %ones : tensor<4xf32>
  return %1 : tensor<4xf32>
}
