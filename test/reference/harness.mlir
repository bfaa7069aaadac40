// The harness finds differences: a pass that changes nothing agrees, two
// functions that differ do not, and a wrong gradient is wrong.
//
// RUN: split-file %s %t
// RUN: braid-interp %t/same.mlir --compare --pipeline="canonicalize,cse" --seeds=3 | FileCheck %t/same.mlir
// RUN: not braid-interp %t/differ.mlir --function=f --after-function=g --compare 2>&1 | FileCheck %t/differ.mlir
// RUN: braid-interp %t/differ.mlir --function=f --after-function=g --compare --rtol=0.1
// RUN: not braid-interp %t/nan.mlir --compare --pipeline=cse 2>&1 | FileCheck %t/nan.mlir
// RUN: not braid-interp %t/nothing.mlir --compare --pipeline=cse 2>&1 | FileCheck %t/nothing.mlir
// RUN: braid-interp %t/gradient.mlir --check-gradients | FileCheck %t/gradient.mlir
// RUN: not braid-interp %t/wrong.mlir --check-gradients --set x=2 2>&1 | FileCheck %t/wrong.mlir

//--- same.mlir
// CHECK: 'f': 1 results agree
func.func @f(%x: tensor<3xf32>, %t: tensor<2xi32>) -> tensor<3xf32> {
  %y = arith.addf %x, %x : tensor<3xf32>
  %z = arith.addf %x, %x : tensor<3xf32>
  %w = arith.mulf %y, %z : tensor<3xf32>
  return %w : tensor<3xf32>
}

//--- differ.mlir
// CHECK: 'f' differs after the passes (seed 0): result 0 'y' at [0] expected {{.*}}, found {{.*}} (difference {{.*}}, allowed {{.*}})
func.func @f(%x: tensor<3xf32> {tg.input = "x"}) -> (tensor<3xf32> {tg.output = "y"}) {
  return %x : tensor<3xf32>
}
func.func @g(%x: tensor<3xf32> {tg.input = "x"}) -> (tensor<3xf32> {tg.output = "y"}) {
  %c = arith.constant dense<1.01> : tensor<3xf32>
  %y = arith.mulf %x, %c : tensor<3xf32>
  return %y : tensor<3xf32>
}

//--- nan.mlir
// A NaN on both sides proves nothing.
// CHECK: 'f' differs after the passes (seed 0): result 0 at [0] expected nan, found nan
func.func @f() -> tensor<1xf32> {
  %c = arith.constant dense<-1.0> : tensor<1xf32>
  %y = math.sqrt %c : tensor<1xf32>
  return %y : tensor<1xf32>
}

//--- nothing.mlir
// CHECK: error: 'f' and its version after the passes have no result in common
func.func @f(%x: tensor<3xf32>) {
  return
}

//--- gradient.mlir
// A root that is no scalar is seeded; the gradients of all float arguments are
// asked for.
// CHECK: 'f': gradient of 'arg0' is right (relative error {{.*}})
// CHECK: 'f': gradient of 'w' is right (relative error {{.*}})
func.func @f(%x: tensor<2x3xf32>, %w: tensor<3x4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> tensor<2x4xf32> {
  %y = tg.contract "ab,bc->ac" %x, %w : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %z = tg.silu %y : tensor<2x4xf32>
  return %z : tensor<2x4xf32>
}

//--- wrong.mlir
// d(x²)/dx is 2x, not x.
// CHECK-DAG: 'f': gradient of 'x' at [] expected {{3.99999|4}}{{.*}}, found 2
// CHECK-DAG: 'f': gradient of 'x' is wrong (relative error 5.0e-01)
func.func @f(%x: tensor<f64> {tg.input = "x"}) -> (tensor<f64> {tg.role = #tg.role<loss>}, tensor<f64> {tg.grad_of = "x"}) {
  %y = arith.mulf %x, %x : tensor<f64>
  return %y, %x : tensor<f64>, tensor<f64>
}
