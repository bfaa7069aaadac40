// Matmuls that add a tensor compute the same as sums behind them, on values and in memory.
// DEFINE: %{values} = exec-set-target{name=cuda},func.func(exec-select-calls,exec-select-addends
// DEFINE: %{memory} = %{values},exec-form-kernels,exec-fuse-kernels),exec-verify-values,exec-plan-memory,exec-outline-kernels,exec-batch-launches,exec-verify-plan,exec-verify-memory
// RUN: braid-interp %s --compare --function=stream --pipeline="%{values})"
// RUN: braid-interp %s --compare --function=stream --pipeline="%{memory}"
// RUN: braid-interp %s --compare --function=padded --pipeline="%{values})"
// RUN: braid-interp %s --compare --function=padded --pipeline="%{memory}"
// RUN: braid-interp %s --compare --function=part --pipeline="%{values})"
// RUN: braid-interp %s --compare --function=part --pipeline="%{memory}"
// RUN: braid-interp %s --compare --function=sliced --pipeline="%{values})"
// RUN: braid-interp %s --compare --function=sliced --pipeline="%{memory}"
// RUN: braid-interp %s --compare --function=itself --pipeline="%{values})"
// RUN: braid-interp %s --compare --function=itself --pipeline="%{memory}"
// RUN: braid-opt %s --pass-pipeline="builtin.module(%{memory})" | FileCheck %s

// The first addend is read later, the second is not: the sum is written over it.
// CHECK-LABEL: exec.program @stream
// CHECK:         exec.matmul "bf,df->bd"(%{{.*}}, %{{.*}} bias %{{.*}} : {{.*}} addend %[[X:.*]] : {{.*}}) outs(%[[S:.*]] : {{.*}})
// CHECK:         exec.matmul "bf,df->bd"(%{{.*}}, %{{.*}} addend %[[S]] : {{.*}}) outs(%[[S]] : {{.*}})
// CHECK-NOT:     exec.launch
// CHECK:         exec.matmul "bd,ed->be"(%[[X]], %[[S]])
func.func @stream(%x: tensor<4x8xf32> {tg.input = "x"}, %y: tensor<4x16xf32> {tg.input = "y"}, %w: tensor<8x16xf32> {tg.input = "w"}, %b: tensor<8xf32> {tg.input = "b"}) -> tensor<4x4xf32> {
  %p = tg.contract "bf,df->bd" %y, %w : (tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
  %bias = tg.broadcast %b dims [1] : tensor<8xf32> -> tensor<4x8xf32>
  %biased = arith.addf %p, %bias : tensor<4x8xf32>
  %s = arith.addf %x, %biased : tensor<4x8xf32>
  %n = math.exp %s : tensor<4x8xf32>
  %z = tg.concat %n, %n dim 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  %q = tg.contract "bf,df->bd" %z, %w : (tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
  %t = arith.addf %s, %q : tensor<4x8xf32>
  %r = tg.contract "bd,ed->be" %x, %t : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// An argument has no padding, a result has: rows of both are read and written where they are.
// CHECK-LABEL: exec.program @padded
// CHECK:         exec.matmul "bf,df->bd"(%{{.*}}, %{{.*}} addend %{{.*}} : !exec.ref<4x1001xf32, [1001, 1]>) outs(%{{.*}} : !exec.ref<4x1001xf32, [1024, 1]>)
// CHECK:         exec.matmul "bf,df->bd"(%{{.*}}, %{{.*}} addend %{{.*}} : !exec.ref<4x1001xf32, [1024, 1]>) outs(%{{.*}} : !exec.ref<4x1001xf32, [1024, 1]>)
func.func @padded(%x: tensor<4x1001xf32> {tg.input = "x"}, %y: tensor<4x16xf32> {tg.input = "y"}, %w: tensor<1001x16xf32> {tg.input = "w"}) -> (tensor<4xf32>, tensor<4xf32>) {
  %p = tg.contract "bf,df->bd" %y, %w : (tensor<4x16xf32>, tensor<1001x16xf32>) -> tensor<4x1001xf32>
  %s = arith.addf %x, %p : tensor<4x1001xf32>
  %q = tg.contract "bf,df->bd" %y, %w : (tensor<4x16xf32>, tensor<1001x16xf32>) -> tensor<4x1001xf32>
  %t = arith.addf %s, %q : tensor<4x1001xf32>
  %m = tg.reduce max %s dims [1] : tensor<4x1001xf32> -> tensor<4xf32>
  %n = tg.reduce max %t dims [1] : tensor<4x1001xf32> -> tensor<4xf32>
  return %m, %n : tensor<4xf32>, tensor<4xf32>
}

// A sum that is written into a larger tensor: rows of the addend are apart otherwise.
// CHECK-LABEL: exec.program @part
// CHECK:         exec.matmul "bsf,df->bsd"(%{{.*}}, %{{.*}} addend %{{.*}} : !exec.ref<2x4x8xf32, [32, 8, 1]>) outs(%{{.*}} : !exec.ref<2x4x8xf32, [40, 8, 1]>)
func.func @part(%x: tensor<2x4x8xf32> {tg.input = "x"}, %y: tensor<2x4x16xf32> {tg.input = "y"}, %w: tensor<8x16xf32> {tg.input = "w"}, %other: tensor<2x1x8xf32> {tg.input = "other"}) -> tensor<2x5x8xf32> {
  %p = tg.contract "bsf,df->bsd" %y, %w : (tensor<2x4x16xf32>, tensor<8x16xf32>) -> tensor<2x4x8xf32>
  %s = arith.addf %x, %p : tensor<2x4x8xf32>
  %all = tg.concat %s, %other dim 1 : (tensor<2x4x8xf32>, tensor<2x1x8xf32>) -> tensor<2x5x8xf32>
  return %all : tensor<2x5x8xf32>
}

// Positions that are contracted and lie apart would be a GEMM for each row of the batch: they are copied.
// CHECK-LABEL: exec.program @sliced
// CHECK:         exec.matmul "bsd,bse->de"(%{{.*}}, %{{.*}} addend %{{.*}} : {{.*}}) outs({{.*}}) : !exec.ref<2x4x8xf32, [32, 8, 1]>, !exec.ref<2x4x8xf32, [32, 8, 1]>
func.func @sliced(%x: tensor<2x4x8xf32> {tg.input = "x"}, %w: tensor<8x8xf32> {tg.input = "w"}, %r: tensor<8x8xf32> {tg.input = "r"}, %other: tensor<2x1x8xf32> {tg.input = "other"})
    -> (tensor<8x8xf32>, tensor<2x5x8xf32>) {
  %y = tg.contract "bsd,ed->bse" %x, %w : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
  %o = tg.contract "bsd,bse->de" %x, %y : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<8x8xf32>
  %s = arith.addf %r, %o : tensor<8x8xf32>
  %all = tg.concat %y, %other dim 1 : (tensor<2x4x8xf32>, tensor<2x1x8xf32>) -> tensor<2x5x8xf32>
  return %s, %all : tensor<8x8xf32>, tensor<2x5x8xf32>
}

// What is multiplied and added is not written over: each row of it is read for all columns.
// CHECK-LABEL: exec.program @itself
// CHECK:         exec.launch
// CHECK:         exec.matmul "bd,ed->be"(%[[N:.*]], %{{.*}} addend %[[N]] : {{.*}}) outs(%[[S:.*]] : {{.*}})
// CHECK-NOT:     outs(%[[N]] :
func.func @itself(%x: tensor<4x8xf32> {tg.input = "x"}, %w: tensor<8x8xf32> {tg.input = "w"}) -> tensor<4xf32> {
  %n = math.exp %x : tensor<4x8xf32>
  %p = tg.contract "bd,ed->be" %n, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %s = arith.addf %n, %p : tensor<4x8xf32>
  %m = tg.reduce max %s dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  return %m : tensor<4xf32>
}
