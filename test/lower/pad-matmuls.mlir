// Matmuls compute and contract the padding of rows, where zeros lie behind the weight.
// Rows of 1001 numbers of four bytes are 1024 apart, so the weight gets 23 rows of zeros.
// DEFINE: %{before} = exec-set-target{name=cuda},func.func(tg-decompose,exec-select-calls,exec-form-kernels,exec-fuse-kernels),exec-plan-memory
// RUN: braid-opt %s --pass-pipeline="builtin.module(%{before},exec-pad-matmuls,exec-verify-plan)" -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: braid-opt %t.mlir --exec-pad-matmuls | diff - %t.mlir
// RUN: braid-interp %s --compare --function=train --pipeline="%{before},exec-pad-matmuls,exec-verify-plan"
// RUN: braid-interp %s --compare --function=sliced --pipeline="%{before},exec-pad-matmuls,exec-verify-plan"
// RUN: braid-interp %s --compare --function=another --pipeline="%{before},exec-pad-matmuls,exec-verify-plan"
// RUN: braid-interp %s --compare --function=not_a_tensor --pipeline="%{before},exec-pad-matmuls,exec-verify-plan"
// RUN: braid-interp %s --compare --function=accumulated --pipeline="%{before},exec-pad-matmuls,exec-verify-plan"

// Nothing is padded for a CPU, or without row alignment; without the pass references are as they were.
// RUN: braid-opt %s --pass-pipeline="builtin.module(exec-set-target{name=cuda},func.func(tg-decompose,exec-select-calls,exec-form-kernels,exec-fuse-kernels),exec-plan-memory{row-alignment=0},exec-pad-matmuls)" | FileCheck %s --check-prefix=CLOSE
// CLOSE: exec.tensor @w at 0 bytes 32032
// CLOSE-NOT: 1024x8
// RUN: braid-opt %s --pass-pipeline="builtin.module(%{before})" | FileCheck %s --check-prefix=WITHOUT
// WITHOUT: exec.tensor @w at 0 bytes 32768
// WITHOUT-NOT: 1024x8

// CHECK: exec.tensor @w at 0 bytes 32768 {{.*}} tensor<1001x8xf32>

// The result, and the contraction over it; the weight's gradient has no room behind it.
// CHECK-LABEL: exec.program @train
// CHECK:       exec.buffer @[[L:[a-z0-9]+]] at {{[0-9]+}} bytes 24576 {{.*}} padding 552
// CHECK-DAG:   %[[W:.+]] = exec.ref @w + 0 : <1024x8xf32, [8, 1]>
// CHECK-DAG:   %[[WIDE:.+]] = exec.ref @[[L]] + 0 : <2x3x1024xf32, [3072, 1024, 1]>
// CHECK-DAG:   %[[ROWS:.+]] = exec.ref @[[L]] + 0 : <2x3x1001xf32, [3072, 1024, 1]>
// CHECK:       exec.matmul "bsd,vd->bsv"({{.*}}, %[[W]]) outs(%[[WIDE]] :
// CHECK:       exec.kernel "softmax"(%[[ROWS]]) outs(%[[ROWS]] :
// CHECK:       exec.matmul "bsv,vd->bsd"(%[[WIDE]], %[[W]])
// CHECK:       exec.matmul "bsd,bsv->vd"({{.*}}, %[[ROWS]])
func.func @train(%w: tensor<1001x8xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>},
                 %x: tensor<2x3x8xf32> {tg.input = "x"})
    -> (tensor<2x3x8xf32> {tg.output = "y"}, tensor<1001x8xf32> {tg.output = "z"}) {
  %0 = tg.contract "bsd,vd->bsv" %x, %w : (tensor<2x3x8xf32>, tensor<1001x8xf32>) -> tensor<2x3x1001xf32>
  %1 = tg.softmax %0 : tensor<2x3x1001xf32>
  %2 = tg.contract "bsv,vd->bsd" %1, %w : (tensor<2x3x1001xf32>, tensor<1001x8xf32>) -> tensor<2x3x8xf32>
  %3 = tg.contract "bsd,bsv->vd" %x, %1 : (tensor<2x3x8xf32>, tensor<2x3x1001xf32>) -> tensor<1001x8xf32>
  return %2, %3 : tensor<2x3x8xf32>, tensor<1001x8xf32>
}

// Some of the rows, but not some of the columns, of which other columns lie behind.
// CHECK-LABEL: exec.program @sliced
// CHECK:       exec.matmul "bsd,vd->bsv"({{.*}}) outs({{.*}} : !exec.ref<2x3x1024xf32, [3072, 1024, 1]>)
// CHECK:       exec.matmul "bsv,vd->bsd"({{.*}}) outs({{.*}}) : !exec.ref<2x2x1024xf32, [3072, 1024, 1]>, !exec.ref<1024x8xf32, [8, 1]>
// CHECK:       exec.matmul "bsv,vd->bsd"({{.*}}) outs({{.*}}) : !exec.ref<2x3x1000xf32, [3072, 1024, 1]>, !exec.ref<1000x8xf32, [8, 1]>
func.func @sliced(%w: tensor<1001x8xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>},
                  %x: tensor<2x3x8xf32> {tg.input = "x"})
    -> (tensor<2x2x8xf32> {tg.output = "y"}, tensor<2x3x8xf32> {tg.output = "z"}) {
  %0 = tg.contract "bsd,vd->bsv" %x, %w : (tensor<2x3x8xf32>, tensor<1001x8xf32>) -> tensor<2x3x1001xf32>
  %1 = tg.slice %0 dim 1 offset 1 size 2 : tensor<2x3x1001xf32> -> tensor<2x2x1001xf32>
  %2 = tg.contract "bsv,vd->bsd" %1, %w : (tensor<2x2x1001xf32>, tensor<1001x8xf32>) -> tensor<2x2x8xf32>
  %3 = tg.slice %0 dim 2 offset 0 size 1000 : tensor<2x3x1001xf32> -> tensor<2x3x1000xf32>
  %4 = tg.slice %w dim 0 offset 1 size 1000 : tensor<1001x8xf32> -> tensor<1000x8xf32>
  %5 = tg.contract "bsv,vd->bsd" %3, %4 : (tensor<2x3x1000xf32>, tensor<1000x8xf32>) -> tensor<2x3x8xf32>
  return %2, %5 : tensor<2x2x8xf32>, tensor<2x3x8xf32>
}

// Padding that no matmul has written is not read: the exponentials lie in a buffer of their own.
// CHECK-LABEL: exec.program @another
// CHECK:       exec.matmul "bsd,vd->bsv"({{.*}}) outs({{.*}} : !exec.ref<2x3x1024xf32, [3072, 1024, 1]>)
// CHECK:       exec.kernel
// CHECK:       exec.matmul "bsv,vd->bsd"({{.*}}) outs({{.*}}) : !exec.ref<2x3x1001xf32, [3072, 1024, 1]>, !exec.ref<1001x8xf32, [8, 1]>
func.func @another(%w: tensor<1001x8xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>},
                   %x: tensor<2x3x8xf32> {tg.input = "x"})
    -> (tensor<2x3x8xf32> {tg.output = "y"}, tensor<2x3x8xf32> {tg.output = "z"}) {
  %0 = tg.contract "bsd,vd->bsv" %x, %w : (tensor<2x3x8xf32>, tensor<1001x8xf32>) -> tensor<2x3x1001xf32>
  %1 = tg.softmax %0 : tensor<2x3x1001xf32>
  %2 = tg.contract "bsv,vd->bsd" %1, %w : (tensor<2x3x1001xf32>, tensor<1001x8xf32>) -> tensor<2x3x8xf32>
  %3 = tg.contract "bsv,vd->bsd" %0, %w : (tensor<2x3x1001xf32>, tensor<1001x8xf32>) -> tensor<2x3x8xf32>
  return %2, %3 : tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// A weight that is an input, as one that was gathered, has no zeros behind it.
// CHECK-LABEL: exec.program @not_a_tensor
// CHECK:       padding 552
// CHECK-NOT:   x1024xf32
func.func @not_a_tensor(%w: tensor<1001x8xf32> {tg.input = "w"}, %x: tensor<2x3x8xf32> {tg.input = "x"})
    -> (tensor<2x3xf32> {tg.output = "y"}) {
  %0 = tg.contract "bsd,vd->bsv" %x, %w : (tensor<2x3x8xf32>, tensor<1001x8xf32>) -> tensor<2x3x1001xf32>
  %1 = tg.reduce max %0 dims [2] : tensor<2x3x1001xf32> -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// What is added to the sum of two products has no zeros there.
// CHECK-LABEL: exec.program @accumulated
// CHECK:       exec.matmul "bsd,vd->bsv"({{[^a]*}}) outs({{.*}} : !exec.ref<2x3x1024xf32, [3072, 1024, 1]>)
// CHECK:       exec.matmul "bsd,vd->bsv"({{.*}} acc {{.*}}) outs({{.*}} : !exec.ref<2x3x1001xf32, [3072, 1024, 1]>)
func.func @accumulated(%w: tensor<1001x8xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>},
                       %x: tensor<2x3x8xf32> {tg.input = "x"}, %y: tensor<2x3x8xf32> {tg.input = "y"})
    -> (tensor<2x3xf32> {tg.output = "z"}) {
  %0 = tg.contract "bsd,vd->bsv" %x, %w : (tensor<2x3x8xf32>, tensor<1001x8xf32>) -> tensor<2x3x1001xf32>
  %1 = tg.contract "bsd,vd->bsv" %y, %w : (tensor<2x3x8xf32>, tensor<1001x8xf32>) -> tensor<2x3x1001xf32>
  %2 = arith.addf %0, %1 : tensor<2x3x1001xf32>
  %3 = tg.reduce max %2 dims [2] : tensor<2x3x1001xf32> -> tensor<2x3xf32>
  return %3 : tensor<2x3xf32>
}
