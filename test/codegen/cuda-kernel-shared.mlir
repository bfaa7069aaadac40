// Sums over rows that combine in two ways have memory of their own each, in which groups of
// threads meet: the block has as many groups as fit into what it may share.
// RUN: braid-opt %s --pass-pipeline="builtin.module(exec-set-target{name=cuda},func.func(tg-decompose,exec-select-calls,exec-form-kernels,exec-fuse-kernels),exec-plan-memory,exec-outline-kernels,exec-batch-launches)" -o %t.mlir
// RUN: braidc %t.mlir --target=cuda:sm_90 --emit=cu | FileCheck %s
// CHECK:      // reduce_subf: 96 rows of 4096 lanes, 1 blocks; 1 block of 512 threads, 512 a
// CHECK-NEXT: // row, 8 lanes at a time
// CHECK:      // reduce_subf_1: 96 rows of 4096 lanes, 1 blocks; 1 block of 1024 threads, 512
// CHECK-NEXT: // a row, 8 lanes at a time

func.func @f(%x: tensor<96x4096xbf16> {tg.input = "x"}, %y: tensor<96x4096xbf16> {tg.input = "y"})
    -> (tensor<4096xf32>, tensor<4096xf32>) {
  %xw = tg.convert %x : tensor<96x4096xbf16> -> tensor<96x4096xf32>
  %yw = tg.convert %y : tensor<96x4096xbf16> -> tensor<96x4096xf32>
  %s = tg.reduce sum %xw dims [1] : tensor<96x4096xf32> -> tensor<96xf32>
  %sb = tg.broadcast %s dims [0] : tensor<96xf32> -> tensor<96x4096xf32>
  %c = arith.subf %yw, %sb : tensor<96x4096xf32>
  %p = tg.reduce sum %c dims [0] : tensor<96x4096xf32> -> tensor<4096xf32>
  %q = tg.reduce max %c dims [0] : tensor<96x4096xf32> -> tensor<4096xf32>
  return %p, %q : tensor<4096xf32>, tensor<4096xf32>
}

func.func @g(%x: tensor<96x4096xbf16> {tg.input = "x"}, %y: tensor<96x4096xbf16> {tg.input = "y"}) -> tensor<4096xf32> {
  %xw = tg.convert %x : tensor<96x4096xbf16> -> tensor<96x4096xf32>
  %yw = tg.convert %y : tensor<96x4096xbf16> -> tensor<96x4096xf32>
  %s = tg.reduce sum %xw dims [1] : tensor<96x4096xf32> -> tensor<96xf32>
  %sb = tg.broadcast %s dims [0] : tensor<96xf32> -> tensor<96x4096xf32>
  %c = arith.subf %yw, %sb : tensor<96x4096xf32>
  %p = tg.reduce sum %c dims [0] : tensor<96x4096xf32> -> tensor<4096xf32>
  return %p : tensor<4096xf32>
}
