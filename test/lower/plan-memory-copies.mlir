// Where values cannot share bytes a copy keeps them apart.
// RUN: braid-opt %s --exec-form-kernels --exec-plan-memory --exec-verify-plan | FileCheck %s
// RUN: braid-interp %s --compare --function=view_of_view --pipeline="func.func(exec-form-kernels),exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=read_later --pipeline="func.func(exec-form-kernels),exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=twice --pipeline="func.func(exec-form-kernels),exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=accumulator_lives --pipeline="func.func(exec-form-kernels),exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=slice_lives --pipeline="func.func(exec-form-kernels),exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=transposed_update --pipeline="func.func(exec-form-kernels),exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=rows --pipeline="func.func(exec-form-kernels),exec-plan-memory,exec-verify-plan"

// The old value is read after the new one is made.
// CHECK-LABEL: exec.program @read_later
// CHECK:       %[[P:[0-9]+]] = exec.ref @p + 0
// CHECK:       exec.kernel {{.*}}(%[[P]]) outs(%[[T:[0-9]+]] :
// CHECK:       exec.kernel {{.*}}(%[[P]], %[[T]]) outs(%{{.*}} :
// CHECK:       exec.kernel "copy"(%[[T]]) outs(%[[P]] :
func.func @read_later(%p: tensor<8xf32> {tg.param = #tg.param<"p", #tg.init<zeros>>})
    -> (tensor<8xf32> {tg.updates = "p"}, tensor<8xf32> {tg.output = "y"}) {
  %0 = math.exp %p : tensor<8xf32>
  %1 = arith.addf %p, %0 : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// One value is asked for in two places: the first gets it.
// CHECK-LABEL: exec.program @twice
// CHECK:       exec.kernel "copy"
// CHECK:       exec.kernel "copy"
// CHECK-NOT:   exec.kernel
func.func @twice(%x: tensor<8xf32> {tg.input = "x"}) -> (tensor<16xf32> {tg.output = "y"}, tensor<8xf32> {tg.output = "z"}) {
  %0 = math.exp %x : tensor<8xf32>
  %1 = exec.concat %0, %0 dim 0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  return %1, %0 : tensor<16xf32>, tensor<8xf32>
}

// An accumulator that is read later is not overwritten.
// CHECK-LABEL: exec.program @accumulator_lives
// CHECK:       exec.kernel "copy"(%[[A:[0-9]+]]) outs(%[[B:[0-9]+]] :
// CHECK:       exec.matmul {{.*}} acc %[[B]] : {{.*}}) outs(%[[B]] :
func.func @accumulator_lives(%x: tensor<2x4xf32> {tg.input = "x"}, %z: tensor<2x8xf32> {tg.input = "z"}) -> (tensor<4x8xf32> {tg.output = "y"}) {
  %0 = exec.matmul "ki,kj->ij"(%x, %z) : tensor<2x4xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
  %1 = exec.matmul "ki,kj->ij"(%x, %z acc %0 : tensor<4x8xf32>) : tensor<2x4xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
  %2 = arith.mulf %0, %1 : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// An operand of a concat is read after the concat's bytes are overwritten.
// CHECK-LABEL: exec.program @slice_lives
// CHECK:       exec.kernel "copy"
func.func @slice_lives(%x: tensor<4xf32> {tg.input = "x"}) -> (tensor<8xf32> {tg.output = "y"}, tensor<4xf32> {tg.output = "z"}) {
  %0 = math.exp %x : tensor<4xf32>
  %1 = math.tanh %x : tensor<4xf32>
  %2 = exec.concat %0, %1 dim 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %3 = arith.negf %2 : tensor<8xf32>
  %4 = arith.addf %0, %x : tensor<4xf32>
  return %3, %4 : tensor<8xf32>, tensor<4xf32>
}

// Rows that are found by number lie behind each other, and so do the numbers.
// CHECK-LABEL: exec.program @rows
// CHECK-DAG:   name "gather operand 0, made contiguous"
// CHECK-DAG:   name "gather operand 1, made contiguous"
// CHECK-DAG:   name "scatter_add operand 1, made contiguous"
func.func @rows(%table: tensor<8x6xf32> {tg.input = "t"}, %numbers: tensor<3x4xi32> {tg.input = "tokens", tg.role = #tg.role<tokens>})
    -> (tensor<3x4xf32> {tg.output = "y"}, tensor<8x2xf32> {tg.output = "z"}) {
  %t = exec.view %table offset 1 strides [6, 1] : tensor<8x6xf32> -> tensor<8x4xf32>
  %n = exec.view %numbers offset 1 strides [4] : tensor<3x4xi32> -> tensor<3xi32>
  %0 = exec.gather(%t, %n) : (tensor<8x4xf32>, tensor<3xi32>) -> tensor<3x4xf32>
  %u = exec.view %0 offset 0 strides [4, 1] : tensor<3x4xf32> -> tensor<3x2xf32>
  %1 = exec.scatter_add(%n, %u) : (tensor<3xi32>, tensor<3x2xf32>) -> tensor<8x2xf32>
  return %0, %1 : tensor<3x4xf32>, tensor<8x2xf32>
}

// The transpose of a square parameter is not written over what it is made of.
// CHECK-LABEL: exec.program @transposed_update
// CHECK:       exec.kernel {{.*}}(%[[P:[0-9]+]]) outs(%[[T:[0-9]+]] :
// CHECK:       exec.kernel "copy"({{.*}}) outs(%[[P]] :
func.func @transposed_update(%s: tensor<4x4xf32> {tg.param = #tg.param<"s", #tg.init<zeros>>}) -> (tensor<4x4xf32> {tg.updates = "s"}) {
  %0 = math.exp %s : tensor<4x4xf32>
  %1 = exec.view %0 offset 0 strides [1, 4] : tensor<4x4xf32> -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// A view of a view that no strides reach reads a copy of the inner one.
// CHECK-LABEL: exec.program @view_of_view
// CHECK:       exec.ref @{{.*}} + 0 : <4x2xf32, [1, 4]>
// CHECK:       exec.kernel "copy"
// CHECK:       exec.kernel
func.func @view_of_view(%x: tensor<2x4xf32> {tg.input = "x"}) -> (tensor<8xf32> {tg.output = "y"}) {
  %0 = exec.view %x offset 0 strides [1, 4] : tensor<2x4xf32> -> tensor<4x2xf32>
  %1 = exec.view %0 offset 0 strides [1] : tensor<4x2xf32> -> tensor<8xf32>
  %2 = math.exp %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
