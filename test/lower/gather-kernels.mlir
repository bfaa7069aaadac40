// Equal kernels come together where no reader is between them and memory allows it.
// RUN: braid-opt %s --exec-select-calls --exec-form-kernels --exec-gather-kernels --split-input-file | FileCheck %s
// RUN: braid-interp %s --compare --pipeline=exec-select-calls,exec-form-kernels,exec-gather-kernels --rtol=0 --seeds=2

// The first three move down to the fourth; the fifth is behind a reader of the second.
// CHECK-LABEL: @groups
// CHECK: exec.kernel "exp"(%arg0)
// CHECK-NEXT: ^bb0
// CHECK: exec.kernel "sin"(%arg0)
// CHECK: exec.kernel "sin"(%arg1)
// CHECK: exec.kernel "sin"(%arg2)
// CHECK: %[[FOUR:.*]] = exec.kernel "sin"(%arg3)
// CHECK: exec.kernel "cos"(%[[FOUR]])
// CHECK: exec.kernel "sin"(%arg0)
func.func @groups(%x: tensor<8xf32>, %y: tensor<8xf32>, %z: tensor<8xf32>, %w: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = math.sin %x : tensor<8xf32>
  %1 = math.sin %y : tensor<8xf32>
  %2 = math.exp %x : tensor<8xf32>
  %3 = math.sin %z : tensor<8xf32>
  %4 = math.sin %w : tensor<8xf32>
  %5 = math.cos %4 : tensor<8xf32>
  %6 = math.sin %x : tensor<8xf32>
  return %0, %1, %2, %3, %5, %6 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// The sum of rows would keep its large operand while the program has most in memory.
// CHECK-LABEL: @memory
// CHECK: %[[BIG:.*]] = exec.kernel "sin"
// CHECK: exec.kernel "{{.*}}"(%[[BIG]])
// CHECK: exec.kernel "exp"
// CHECK: exec.kernel "cos"
func.func @memory(%x: tensor<16x8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<16x8xf32>) {
  %0 = math.sin %x : tensor<16x8xf32>
  %1 = tg.reduce sum %0 dims [0] : tensor<16x8xf32> -> tensor<8xf32>
  %2 = math.exp %x : tensor<16x8xf32>
  %3 = math.cos %2 : tensor<16x8xf32>
  %4 = arith.addf %2, %3 : tensor<16x8xf32>
  %5 = tg.reduce sum %4 dims [0] : tensor<16x8xf32> -> tensor<8xf32>
  return %1, %5, %4 : tensor<8xf32>, tensor<8xf32>, tensor<16x8xf32>
}
