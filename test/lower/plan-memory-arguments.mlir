// Arguments and constants have bytes of their own: results and updates copy them.
// RUN: braid-opt %s --exec-plan-memory --exec-verify-plan | FileCheck %s
// RUN: braid-interp %s --compare --function=exchange --pipeline="exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=rotate --pipeline="exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=constants --pipeline="exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=arguments --pipeline="exec-plan-memory,exec-verify-plan"

// Two tensors change places: both are read before either is written.
// CHECK-LABEL: exec.program @exchange
// CHECK-DAG:   %[[P:[0-9]+]] = exec.ref @p + 0
// CHECK-DAG:   %[[Q:[0-9]+]] = exec.ref @q + 0
// CHECK:       exec.kernel "copy"(%[[Q]]) outs(%[[T:[0-9]+]] :
// CHECK:       exec.kernel "copy"(%[[P]]) outs(%[[U:[0-9]+]] :
// CHECK:       exec.kernel "copy"(%[[T]]) outs(%[[P]] :
// CHECK:       exec.kernel "copy"(%[[U]]) outs(%[[Q]] :
func.func @exchange(%p: tensor<8xf32> {tg.param = #tg.param<"p", #tg.init<zeros>>}, %q: tensor<8xf32> {tg.param = #tg.param<"q", #tg.init<zeros>>})
    -> (tensor<8xf32> {tg.updates = "p"}, tensor<8xf32> {tg.updates = "q"}) {
  return %q, %p : tensor<8xf32>, tensor<8xf32>
}

// The halves of a parameter change places.
// CHECK-LABEL: exec.program @rotate
// CHECK:       exec.kernel "copy"
// CHECK:       exec.kernel "copy"
// CHECK:       exec.kernel "copy"({{.*}}) outs(%[[P:[0-9]+]] :
func.func @rotate(%p: tensor<8xf32> {tg.param = #tg.param<"p", #tg.init<zeros>>}) -> (tensor<8xf32> {tg.updates = "p"}) {
  %0 = exec.view %p offset 4 strides [1] : tensor<8xf32> -> tensor<4xf32>
  %1 = exec.view %p offset 0 strides [1] : tensor<8xf32> -> tensor<4xf32>
  %2 = exec.concat %0, %1 dim 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// Constants that an action or the caller reads are written by a kernel.
// CHECK-LABEL: exec.program @constants
// CHECK:       %[[W:[0-9]+]] = exec.ref @p + 0
// CHECK:       exec.kernel "fill"() outs(%[[C:[0-9]+]] :
// CHECK:       exec.matmul {{.*}}(%{{.*}}, %[[C]])
// CHECK:       exec.kernel "fill"() outs(%[[W]] :
func.func @constants(%p: tensor<8xf32> {tg.param = #tg.param<"p", #tg.init<zeros>>}, %x: tensor<2x4xf32> {tg.input = "x"})
    -> (tensor<2x3xf32> {tg.output = "y"}, tensor<8xf32> {tg.updates = "p"}, tensor<i32> {tg.output = "n"}) {
  %0 = arith.constant dense<2.0> : tensor<4x3xf32>
  %1 = arith.constant dense<0.5> : tensor<8xf32>
  %2 = arith.constant dense<7> : tensor<i32>
  %3 = exec.matmul "ij,jk->ik"(%x, %0) : tensor<2x4xf32>, tensor<4x3xf32> -> tensor<2x3xf32>
  return %3, %1, %2 : tensor<2x3xf32>, tensor<8xf32>, tensor<i32>
}

// Arguments are returned as copies, views of them too.
// CHECK-LABEL: exec.program @arguments
// CHECK:       exec.kernel "copy"
// CHECK:       exec.kernel "copy"
// CHECK-NOT:   exec.kernel
func.func @arguments(%x: tensor<2x4xf32> {tg.input = "x"}) -> (tensor<2x4xf32> {tg.output = "y"}, tensor<4x2xf32> {tg.output = "z"}) {
  %0 = exec.view %x offset 0 strides [1, 4] : tensor<2x4xf32> -> tensor<4x2xf32>
  return %x, %0 : tensor<2x4xf32>, tensor<4x2xf32>
}
