// A block of a larger random tensor adds where it starts, once for all.
// RUN: braid-opt %s --exec-select-calls --exec-form-kernels --exec-fuse-kernels --exec-plan-memory --exec-outline-kernels --exec-verify-plan -o %t.mlir
// RUN: braidc %t.mlir --emit=cpp | FileCheck %s
// RUN: braidc %t.mlir -o %t.native --cpu=native
// RUN: %t.native run --program block --outputs %t.st --threads 2 && braid-interp %t.mlir --function=block --inputs=%t.st --expect=%t.st

// CHECK: uint64_t e0 = static_cast<uint32_t>(a0[3]) * 160ull + static_cast<uint64_t>({{.*}}) * 16ull + static_cast<uint64_t>(3) * 1ull + r * 16;
func.func @block(%key: tensor<4xi32> {tg.input = "key"}, %o: tensor<i32> {tg.input = "o"}, %x: tensor<4x2x8xf32> {tg.input = "x"}) -> (tensor<4x2x8xf32> {tg.output = "y"}) {
  %c = arith.constant dense<3> : tensor<i32>
  %u = tg.random_uniform %key stream 7 at (%o, %c) of [10, 16] : (tensor<4xi32>, tensor<i32>, tensor<i32>) -> tensor<8x8xf32>
  %r = tg.reshape %u : tensor<8x8xf32> -> tensor<4x2x8xf32>
  %y = arith.mulf %x, %r : tensor<4x2x8xf32>
  return %y : tensor<4x2x8xf32>
}
