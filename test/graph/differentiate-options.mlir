// RUN: braid-opt %s --tg-differentiate="function=a root=1,2" | FileCheck %s --check-prefix=ROOTS
// RUN: braid-opt %s --tg-differentiate="function=b" --tg-mark-gradients | FileCheck %s --check-prefix=HOOKS
// RUN: not braid-opt %s --tg-differentiate="function=c" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not braid-opt %s --tg-differentiate="function=a" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not braid-opt %s --tg-differentiate="function=b root=3" 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not braid-opt %s --tg-differentiate="function=a root=0" 2>&1 | FileCheck %s --check-prefix=SHAPE

// NAME: error: the module has no function 'c' with a body
// NONE: error: no result has tg.role = #tg.role<loss>; mark one, or name a result with root=
// RANGE: error: root 3 is not one of its 1 results
// SHAPE: error: result #0 is 'tensor<2x3xf32>', not a scalar; give its gradient as an argument of that type with tg.seed = 0, or reduce it

// ROOTS-LABEL: func.func @a
// ROOTS-SAME: tensor<2x3xf32> {tg.grad_of = "x"}
// ROOTS-LABEL: func.func @b
// ROOTS-NOT: tg.grad_of
func.func @a(%x: tensor<2x3xf32> {tg.input = "x", tg.grad}) -> (tensor<2x3xf32>, tensor<f32>, tensor<f32>) {
  %s = tg.reduce sum %x dims [0, 1] : tensor<2x3xf32> -> tensor<f32>
  %m = tg.reduce mean %x dims [0, 1] : tensor<2x3xf32> -> tensor<f32>
  return %x, %s, %m : tensor<2x3xf32>, tensor<f32>, tensor<f32>
}

// One hook for a parameter, behind the sum of all its uses.
// HOOKS-LABEL: func.func @b
// HOOKS: %[[SUM:.*]] = arith.addf
// HOOKS: %[[HOOK:.*]] = tg.hook %[[SUM]] "param:w" order 0 : tensor<f32>
// HOOKS: return %{{.*}}, %[[HOOK]]
func.func @b(%w: tensor<f32> {tg.param = #tg.param<"w", #tg.init<zeros>>}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %s = arith.mulf %w, %w : tensor<f32>
  return %s : tensor<f32>
}
