// Kernels look up the rows of tables that they read.
// DEFINE: %{values} = tg-decompose,exec-select-calls,exec-form-kernels,exec-fuse-kernels,exec-fuse-gathers
// DEFINE: %{memory} = func.func(%{values}),exec-verify-values,exec-plan-memory,exec-outline-kernels
// RUN: braid-opt %s --pass-pipeline="builtin.module(func.func(%{values}))" --split-input-file | FileCheck %s
// RUN: braid-interp %s --compare --pipeline=%{values} --arithmetic=f64 --rtol=1e-6 --seeds=2
// RUN: braid-opt %s --pass-pipeline="builtin.module(%{memory})" --split-input-file | FileCheck %s --check-prefix=MEMORY
// RUN: braid-interp %s --compare --pipeline=%{values},exec-plan-memory,exec-outline-kernels,exec-verify-plan,exec-verify-memory --arithmetic=f64 --rtol=1e-6 --seeds=2

// The embedding, the position and the norm; the sum is also the residual, the rows are not.
// CHECK-LABEL: @embedding
// CHECK-NOT: exec.gather
// CHECK: %[[POSITION:.*]] = exec.view %arg2
// CHECK: exec.kernel "gather__layer_norm"({{.*}}%arg0, %arg1) space [2, 4, 8]
// CHECK: arith.maxsi
// CHECK: %[[NUMBER:.*]] = arith.minsi
// CHECK: %[[ROW:.*]] = arith.index_cast %[[NUMBER]] : i32 to index
// CHECK: %[[LANE:.*]] = linalg.index 2
// CHECK: tensor.extract %{{.*}}[%[[ROW]], %[[LANE]]] : tensor<16x8xf32>
// CHECK-NOT: exec.kernel
// CHECK: return
// MEMORY-LABEL: exec.kernel_def @gather_layer_norm
// MEMORY: exec.program @embedding
// MEMORY: exec.launch @gather_layer_norm
func.func @embedding(%table: tensor<16x8xf32>, %ids: tensor<2x4xi32>, %positions: tensor<6x8xf32>, %weight: tensor<8xf32>)
    -> (tensor<2x4x8xf32>, tensor<2x4x8xf32>) {
  %rows = tg.gather %table, %ids : (tensor<16x8xf32>, tensor<2x4xi32>) -> tensor<2x4x8xf32>
  %first = tg.slice %positions dim 0 offset 0 size 4 : tensor<6x8xf32> -> tensor<4x8xf32>
  %repeated = tg.broadcast %first dims [1, 2] : tensor<4x8xf32> -> tensor<2x4x8xf32>
  %x = arith.addf %rows, %repeated : tensor<2x4x8xf32>
  %y, %mean, %rstd = tg.layer_norm %x, %weight eps 1.0e-5 : (tensor<2x4x8xf32>, tensor<8xf32>) -> (tensor<2x4x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  return %x, %y : tensor<2x4x8xf32>, tensor<2x4x8xf32>
}

// -----

// What others read as well is a result of the kernel, through a view, too.
// CHECK-LABEL: @kept
// CHECK: %[[KERNEL:.*]]:2 = exec.kernel "gather"(%arg0, %arg1)
// CHECK: exec.yield %{{.*}}, %[[ROWS:.*]] :
// CHECK: %[[VIEW:.*]] = exec.view %[[KERNEL]]#1
// CHECK: exec.matmul {{.*}}%[[VIEW]]
func.func @kept(%table: tensor<16x8xf32>, %ids: tensor<2x4xi32>, %weight: tensor<3x8xf32>) -> (tensor<2x4x8xf32>, tensor<8x3xf32>) {
  %rows = tg.gather %table, %ids : (tensor<16x8xf32>, tensor<2x4xi32>) -> tensor<2x4x8xf32>
  %y = math.exp %rows : tensor<2x4x8xf32>
  %flat = tg.reshape %rows : tensor<2x4x8xf32> -> tensor<8x8xf32>
  %z = tg.contract "bi,oi->bo" %flat, %weight : (tensor<8x8xf32>, tensor<3x8xf32>) -> tensor<8x3xf32>
  return %y, %z : tensor<2x4x8xf32>, tensor<8x3xf32>
}

// -----

// A call reads the rows first.
// CHECK-LABEL: @call
// CHECK: %[[ROWS:.*]] = exec.gather
// CHECK: exec.matmul {{.*}}%[[ROWS]]
// CHECK: exec.kernel "exp"(%[[ROWS]])
func.func @call(%table: tensor<16x8xf32>, %ids: tensor<4xi32>, %weight: tensor<3x8xf32>) -> (tensor<4x8xf32>, tensor<4x3xf32>) {
  %rows = tg.gather %table, %ids : (tensor<16x8xf32>, tensor<4xi32>) -> tensor<4x8xf32>
  %z = tg.contract "bi,oi->bo" %rows, %weight : (tensor<4x8xf32>, tensor<3x8xf32>) -> tensor<4x3xf32>
  %y = math.exp %rows : tensor<4x8xf32>
  return %y, %z : tensor<4x8xf32>, tensor<4x3xf32>
}

// -----

// The rows are read in parts.
// CHECK-LABEL: @part
// CHECK: exec.gather
// CHECK: exec.kernel "exp"
func.func @part(%table: tensor<16x8xf32>, %ids: tensor<4xi32>) -> tensor<4x2xf32> {
  %rows = tg.gather %table, %ids : (tensor<16x8xf32>, tensor<4xi32>) -> tensor<4x8xf32>
  %part = tg.slice %rows dim 1 offset 2 size 2 : tensor<4x8xf32> -> tensor<4x2xf32>
  %y = math.exp %part : tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// -----

// Two gathers of one table, and a sum of each row.
// CHECK-LABEL: @two
// CHECK-NOT: exec.gather
// CHECK: exec.kernel "gather"
// CHECK-COUNT-2: tensor.extract
// CHECK-NOT: exec.kernel
// CHECK: return
func.func @two(%table: tensor<16x8xf32>, %a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xf32> {
  %x = tg.gather %table, %a : (tensor<16x8xf32>, tensor<4xi32>) -> tensor<4x8xf32>
  %y = tg.gather %table, %b : (tensor<16x8xf32>, tensor<4xi32>) -> tensor<4x8xf32>
  %p = arith.mulf %x, %y : tensor<4x8xf32>
  %s = tg.reduce sum %p dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  return %s : tensor<4xf32>
}

// -----

// A kernel without rows reads one row: the gather stays.
// CHECK-LABEL: @single
// CHECK: exec.gather
// CHECK: exec.kernel "addf"
func.func @single(%table: tensor<16x8xf32>, %id: tensor<1xi32>, %bias: tensor<8xf32>) -> tensor<8xf32> {
  %row = tg.gather %table, %id : (tensor<16x8xf32>, tensor<1xi32>) -> tensor<1x8xf32>
  %x = tg.reshape %row : tensor<1x8xf32> -> tensor<8xf32>
  %y = arith.addf %x, %bias : tensor<8xf32>
  return %y : tensor<8xf32>
}
