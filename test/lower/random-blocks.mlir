// A block of a larger random tensor: the kernel takes in where it starts.
// RUN: braid-opt %s --exec-select-calls --exec-form-kernels --exec-fuse-kernels | FileCheck %s
// RUN: braid-interp %s --compare --function=block --pipeline="func.func(exec-select-calls,exec-form-kernels,exec-fuse-kernels),exec-verify-values,exec-plan-memory,exec-verify-plan"

// Steps are those of the whole tensor; where one starts is read once, a constant is
// written into the kernel.
// CHECK-LABEL: @block
// CHECK:       exec.kernel {{.*}}(%arg0, %arg1, %arg2) space [4, 2, 8]
// CHECK:       ^bb0(%[[KEY:.*]]: tensor<4xi32>, %{{.*}}: tensor<i32>, %{{.*}}: tensor<4x2x8xf32>)
// CHECK:       ^bb0(%[[O:[a-z0-9_]+]]: i32,
// CHECK:       %[[C:.*]] = arith.constant 3 : i32
// CHECK:       exec.random_uniform %[[KEY]][%{{.*}}, %{{.*}}, %{{.*}}] strides [32, 16, 1] at %[[O]], %[[C]] steps [16, 1] count 160 stream 7 : tensor<4xi32>, f32
func.func @block(%key: tensor<4xi32> {tg.input = "key"}, %o: tensor<i32> {tg.input = "o"}, %x: tensor<4x2x8xf32> {tg.input = "x"}) -> (tensor<4x2x8xf32> {tg.output = "y"}) {
  %c = arith.constant dense<3> : tensor<i32>
  %u = tg.random_uniform %key stream 7 at (%o, %c) of [10, 16] : (tensor<4xi32>, tensor<i32>, tensor<i32>) -> tensor<8x8xf32>
  %r = tg.reshape %u : tensor<8x8xf32> -> tensor<4x2x8xf32>
  %y = arith.mulf %x, %r : tensor<4x2x8xf32>
  return %y : tensor<4x2x8xf32>
}
