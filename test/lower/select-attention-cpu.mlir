// RUN: braid-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(exec-set-target,func.func(exec-select-attention))' | FileCheck %s

// A CPU takes f32, too, and heads and positions that no vector divides.
// CHECK-LABEL: func @odd
// CHECK: %[[O:.*]]:2 = exec.attention(%{{.*}}, %{{.*}}, %{{.*}}) scale 2.500000e-01 causal tiles
// CHECK: exec.attention_grad(%{{.*}}, %{{.*}}, %{{.*}}, %[[O]]#0, %[[O]]#1, %{{.*}}) scale 2.500000e-01 causal tiles
// CHECK-NOT: tg.attention
func.func @odd(%q: tensor<2x7x3x5xf32>, %do: tensor<2x7x3x5xf32>) -> tensor<2x7x3x5xf32> {
  // expected-remark @below {{is computed by tiles, which keep the scores on chip}}
  %o, %lse = tg.attention %q, %q, %q scale 0.25 causal
      : (tensor<2x7x3x5xf32>, tensor<2x7x3x5xf32>, tensor<2x7x3x5xf32>) -> (tensor<2x7x3x5xf32>, tensor<2x3x7xf32>)
  // expected-remark @below {{is computed by tiles}}
  %dq, %dk, %dv = tg.attention_grad %q, %q, %q, %o, %lse, %do scale 0.25 causal
      : (tensor<2x7x3x5xf32>, tensor<2x7x3x5xf32>, tensor<2x7x3x5xf32>, tensor<2x7x3x5xf32>, tensor<2x3x7xf32>, tensor<2x7x3x5xf32>)
      -> (tensor<2x7x3x5xf32>, tensor<2x7x3x5xf32>, tensor<2x7x3x5xf32>)
  return %dq : tensor<2x7x3x5xf32>
}

// -----

// CHECK-LABEL: func @half
// CHECK: exec.attention
func.func @half(%q: tensor<2x1x2x8xbf16>, %k: tensor<2x4x2x8xbf16>) -> tensor<2x1x2x8xbf16> {
  // expected-remark @below {{is computed by tiles}}
  %o, %lse = tg.attention %q, %k, %k scale 1.0
      : (tensor<2x1x2x8xbf16>, tensor<2x4x2x8xbf16>, tensor<2x4x2x8xbf16>) -> (tensor<2x1x2x8xbf16>, tensor<2x2x1xf32>)
  return %o : tensor<2x1x2x8xbf16>
}

// -----

// CHECK-LABEL: func @wide_elements
// CHECK: tg.attention
func.func @wide_elements(%q: tensor<2x4x2x8xf64>) -> tensor<2x4x2x8xf64> {
  // expected-remark @below {{decomposed: its elements are f64, but tiles support only f32 and bf16}}
  %o, %lse = tg.attention %q, %q, %q scale 1.0
      : (tensor<2x4x2x8xf64>, tensor<2x4x2x8xf64>, tensor<2x4x2x8xf64>) -> (tensor<2x4x2x8xf64>, tensor<2x2x4xf64>)
  return %o : tensor<2x4x2x8xf64>
}

// -----

// CHECK-LABEL: func @large_heads
// CHECK: tg.attention
func.func @large_heads(%q: tensor<2x4x2x264xf32>) -> tensor<2x4x2x264xf32> {
  // expected-remark @below {{decomposed: heads have size 264, but tiles support at most 256}}
  %o, %lse = tg.attention %q, %q, %q scale 1.0
      : (tensor<2x4x2x264xf32>, tensor<2x4x2x264xf32>, tensor<2x4x2x264xf32>) -> (tensor<2x4x2x264xf32>, tensor<2x2x4xf32>)
  return %o : tensor<2x4x2x264xf32>
}
