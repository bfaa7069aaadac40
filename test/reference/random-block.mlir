// A block of a larger random tensor holds what the larger one has there.
//
// RUN: split-file %s %t
// RUN: braid-interp %t/block.mlir --set row=2 --set microbatch=3 | FileCheck %t/block.mlir
// RUN: not braid-interp %t/block.mlir --set row=7 --set microbatch=3 2>&1 | FileCheck %t/block.mlir --check-prefix=OUTSIDE

//--- block.mlir
// CHECK: slice: tensor<2x3xf32> = [[VALUES:.*]]
// CHECK-NEXT: block: tensor<2x3xf32> = [[VALUES]]
// OUTSIDE: error: the block of size 2 at offset 7 of dim 0 is not within the whole tensor's 8
func.func @f(%row: tensor<i32> {tg.input = "row"}, %microbatch: tensor<4xi32> {tg.input = "microbatch"})
    -> (tensor<2x3xf32> {tg.output = "slice"}, tensor<2x3xf32> {tg.output = "block"}) {
  %column = arith.constant dense<4> : tensor<i32>
  %whole = tg.random_uniform %microbatch stream 5 : tensor<4xi32> -> tensor<8x10xf32>
  %rows = tg.slice %whole dim 0 offset 2 size 2 : tensor<8x10xf32> -> tensor<2x10xf32>
  %slice = tg.slice %rows dim 1 offset 4 size 3 : tensor<2x10xf32> -> tensor<2x3xf32>
  %block = tg.random_uniform %microbatch stream 5 at (%row, %column) of [8, 10] : (tensor<4xi32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  return %slice, %block : tensor<2x3xf32>, tensor<2x3xf32>
}
