// Kernels are formed and fused around collectives, which stay, in their order.
// RUN: braid-opt %s --exec-select-calls --exec-form-kernels --exec-fuse-kernels --exec-verify-values --split-input-file | FileCheck %s

// The exp and the sum that reads it and the second collective could be one kernel,
// were the second collective before the first; other ranks would deadlock.
// CHECK-LABEL: @in_order
// CHECK: exec.kernel "exp"
// CHECK: comm.all_reduce sum
// CHECK: comm.all_reduce max
// CHECK: exec.kernel "addf"
comm.mesh @mesh [dp = 2]
func.func @in_order(%x: tensor<8x4xf32>, %y: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
    attributes {comm.program = #comm.program<@mesh>} {
  %a = math.exp %x : tensor<8x4xf32>
  %r = comm.all_reduce sum %a over @mesh {dp} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %s = comm.all_reduce max %y over @mesh {dp} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %b = arith.addf %a, %s : tensor<8x4xf32>
  return %r, %b : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// With the reader before it, nothing is in the way.
// CHECK-LABEL: @beside
// CHECK: %[[K:.*]]:2 = exec.kernel {{.*}}(%arg0, %arg1)
// CHECK: comm.all_reduce sum %[[K]]#0
// CHECK: comm.all_reduce max %[[K]]#1
// CHECK-NOT: exec.kernel
comm.mesh @mesh [dp = 2]
func.func @beside(%x: tensor<8x4xf32>, %y: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
    attributes {comm.program = #comm.program<@mesh>} {
  %a = math.exp %x : tensor<8x4xf32>
  %r = comm.all_reduce sum %a over @mesh {dp} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %b = arith.addf %a, %y : tensor<8x4xf32>
  %s = comm.all_reduce max %b over @mesh {dp} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %r, %s : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// Waits keep their place between starts, and constants that a collective sends get
// memory; a call under way is beside the collective.
// CHECK-LABEL: @starts
// CHECK: %[[F:.*]] = exec.kernel "fill"()
// CHECK: %[[T:.*]] = comm.start {
// CHECK: comm.all_gather %[[F]] dims [0]
// CHECK: exec.matmul
// CHECK: %[[W:.*]] = comm.wait %[[T]]
// CHECK: %[[U:.*]] = comm.start {
// CHECK: comm.all_reduce sum %[[W]]
// CHECK: comm.wait %[[U]]
comm.mesh @mesh [dp = 2]
func.func @starts(%x: tensor<8x4xf32>, %w: tensor<8x4xf32>) -> (tensor<8x8xf32>, tensor<16x4xf32>)
    attributes {comm.program = #comm.program<@mesh>} {
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %t = comm.start {
    %g = comm.all_gather %one dims [0] over @mesh {dp} : (tensor<8x4xf32>) -> tensor<16x4xf32>
  } : !comm.ticket<tensor<16x4xf32>>
  %y = tg.contract "bd,fd->bf" %x, %w : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  %g = comm.wait %t : !comm.ticket<tensor<16x4xf32>> -> tensor<16x4xf32>
  %u = comm.start {
    %r = comm.all_reduce sum %g over @mesh {dp} : (tensor<16x4xf32>) -> tensor<16x4xf32>
  } : !comm.ticket<tensor<16x4xf32>>
  %r = comm.wait %u : !comm.ticket<tensor<16x4xf32>> -> tensor<16x4xf32>
  return %y, %r : tensor<8x8xf32>, tensor<16x4xf32>
}
