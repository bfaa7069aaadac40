// A requested library call that is not possible is an error with the reason.
// RUN: not braid-opt %s --pass-pipeline='builtin.module(exec-set-target{name=cuda},func.func(exec-select-attention{required=true}))' 2>&1 | FileCheck %s
// RUN: sed 's/f32/f64/g' %s | not braid-opt --pass-pipeline='builtin.module(func.func(exec-select-attention{required=true}))' 2>&1 | FileCheck %s --check-prefix=CPU

// CHECK: error: no library call can do this attention: its elements are f32, but the library takes bf16
// CPU: error: no library call can do this attention: its elements are f64, but the library takes f32 and bf16
func.func @f(%q: tensor<2x4x2x8xf32>) -> tensor<2x4x2x8xf32> {
  %o, %lse = tg.attention %q, %q, %q scale 1.0
      : (tensor<2x4x2x8xf32>, tensor<2x4x2x8xf32>, tensor<2x4x2x8xf32>) -> (tensor<2x4x2x8xf32>, tensor<2x2x4xf32>)
  return %o : tensor<2x4x2x8xf32>
}
