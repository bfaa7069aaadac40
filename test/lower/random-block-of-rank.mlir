// The block of a rank starts where its place in the mesh says.
// RUN: braid-opt %s --exec-select-calls --exec-form-kernels --exec-fuse-kernels | FileCheck %s
// RUN: braid-interp %s --compare --function=rank --pipeline="func.func(exec-select-calls,exec-form-kernels,exec-fuse-kernels),exec-verify-values"
comm.mesh @mesh [dp = 2]

// CHECK-LABEL: @rank
// CHECK:       %[[I:.*]] = comm.axis_index over @mesh {dp}
// CHECK:       %[[O:.*]] = exec.kernel "muli"(%[[I]])
// CHECK:       exec.kernel {{.*}}(%arg0, %[[O]]) space [4, 8]
func.func @rank(%key: tensor<4xi32> {tg.input = "key"})
    -> (tensor<4x8xf32> {tg.output = "y", comm.sharding = #comm.sharding<@mesh, {dp} {}>, comm.global = tensor<8x8xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %i = comm.axis_index over @mesh {dp} : tensor<i32>
  %four = arith.constant dense<4> : tensor<i32>
  %zero = arith.constant dense<0> : tensor<i32>
  %o = arith.muli %i, %four : tensor<i32>
  %u = tg.random_uniform %key stream 7 at (%o, %zero) of [8, 8] : (tensor<4xi32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return %u : tensor<4x8xf32>
}
