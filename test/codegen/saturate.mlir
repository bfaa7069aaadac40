// Floats out of an int's range become the nearest int, and NaN becomes 0: on lanes and on row values, for every
// instruction set, and in CUDA, as in the interpreter.
// RUN: braid-opt %s --exec-select-calls --exec-form-kernels --exec-fuse-kernels --exec-plan-memory --exec-outline-kernels --exec-verify-plan -o %t.mlir
// RUN: braidc %t.mlir --emit=cpp | FileCheck %s
// RUN: braidc %t.mlir --target=cuda:sm_90 --emit=cu -o %t.cu && cat %t.cu/kernels.cuh | FileCheck %s
// RUN: braidc %t.mlir -o %t.native --cpu=native
// RUN: %t.native run --program lanes --outputs %t.st && braid-interp %t.mlir --function=lanes --inputs=%t.st --expect=%t.st
// RUN: %t.native run --program rows --outputs %t.st && braid-interp %t.mlir --function=rows --inputs=%t.st --expect=%t.st
// RUN: braidc %t.mlir -o %t.v3 --cpu=x86-64-v3
// RUN: %t.v3 run --program lanes --outputs %t.st && braid-interp %t.mlir --function=lanes --inputs=%t.st --expect=%t.st
// RUN: braidc %t.mlir -o %t.portable --cpu=x86-64
// RUN: %t.portable run --program lanes --outputs %t.st && braid-interp %t.mlir --function=lanes --inputs=%t.st --expect=%t.st
// RUN: braid-interp %s --function=lanes --seed=1 --print | FileCheck %s --check-prefix=VALUES

// VALUES: i: tensor<16xi32> = [2147483647, -2147483648, 0, 2147483647, -2147483648, 2147483520, -2147483648, 2147483647, 300, -300, 127, -128, 128, -129, 2, 0]
// VALUES: b: tensor<16xi8> = [127, -128, 0, 127, -128, 127, -128, 127, 127, -128, 127, -128, 127, -128, 2, 0]
// CHECK-DAG: to_int(
// CHECK-DAG: to_int8(
// CHECK-DAG: to_int64(
func.func @lanes(%x: tensor<16xf32> {tg.input = "x"}) -> (tensor<16xi32> {tg.output = "i"}, tensor<16xi8> {tg.output = "b"}) {
  %c = arith.constant dense<[3.0e9, -3.0e9, 0x7FC00000, 0x7F800000, 0xFF800000, 2147483520.0, -2147483648.0, 2147483648.0,
      300.7, -300.7, 127.9, -128.9, 128.0, -129.0, 2.5, -0.9]> : tensor<16xf32>
  %z = arith.constant dense<0.0> : tensor<16xf32>
  %zx = arith.mulf %x, %z : tensor<16xf32>
  %y = arith.addf %c, %zx : tensor<16xf32>
  %i = tg.convert %y : tensor<16xf32> -> tensor<16xi32>
  %b = tg.convert %y : tensor<16xf32> -> tensor<16xi8>
  return %i, %b : tensor<16xi32>, tensor<16xi8>
}
func.func @rows(%x: tensor<f32> {tg.input = "x"}) -> (tensor<i32> {tg.output = "i"}, tensor<i64> {tg.output = "l"}, tensor<i8> {tg.output = "b"}) {
  %big = arith.constant dense<1.0e30> : tensor<f32>
  %y = arith.mulf %x, %big : tensor<f32>
  %i = tg.convert %y : tensor<f32> -> tensor<i32>
  %l = tg.convert %y : tensor<f32> -> tensor<i64>
  %b = tg.convert %y : tensor<f32> -> tensor<i8>
  return %i, %l, %b : tensor<i32>, tensor<i64>, tensor<i8>
}
