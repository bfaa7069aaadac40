// RUN: braid-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(exec-set-target{name=cuda},func.func(exec-select-attention))' | FileCheck %s
// RUN: braid-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(exec-set-target{name=cuda},func.func(exec-select-attention,tg-decompose,tg-verify-primitives,exec-select-calls))' -o /dev/null

// Grouped heads and the causal mask go into the call as they are.
// CHECK-LABEL: func @grouped
// CHECK: %[[O:.*]]:2 = exec.attention(%{{.*}}, %{{.*}}, %{{.*}}) scale 2.500000e-01 causal
// CHECK-SAME: -> tensor<2x8x4x16xbf16>, tensor<2x4x8xf32>
// CHECK: exec.attention_grad(%{{.*}}, %{{.*}}, %{{.*}}, %[[O]]#0, %[[O]]#1, %{{.*}}) scale 2.500000e-01 causal
// CHECK-SAME: -> tensor<2x8x4x16xbf16>, tensor<2x8x2x16xbf16>, tensor<2x8x2x16xbf16>
// CHECK-NOT: tg.attention
func.func @grouped(%q: tensor<2x8x4x16xbf16>, %k: tensor<2x8x2x16xbf16>, %v: tensor<2x8x2x16xbf16>, %do: tensor<2x8x4x16xbf16>)
    -> (tensor<2x8x4x16xbf16>, tensor<2x8x2x16xbf16>, tensor<2x8x2x16xbf16>) {
  // expected-remark @below {{is a call of the library of target 'cuda', which keeps the scores on chip}}
  %o, %lse = tg.attention %q, %k, %v scale 0.25 causal
      : (tensor<2x8x4x16xbf16>, tensor<2x8x2x16xbf16>, tensor<2x8x2x16xbf16>) -> (tensor<2x8x4x16xbf16>, tensor<2x4x8xf32>)
  // expected-remark @below {{is a call of the library of target 'cuda', which keeps the scores on chip}}
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do scale 0.25 causal
      : (tensor<2x8x4x16xbf16>, tensor<2x8x2x16xbf16>, tensor<2x8x2x16xbf16>, tensor<2x8x4x16xbf16>, tensor<2x4x8xf32>, tensor<2x8x4x16xbf16>)
      -> (tensor<2x8x4x16xbf16>, tensor<2x8x2x16xbf16>, tensor<2x8x2x16xbf16>)
  return %dq, %dk, %dv : tensor<2x8x4x16xbf16>, tensor<2x8x2x16xbf16>, tensor<2x8x2x16xbf16>
}

// -----

// Queries may be others than keys.
// CHECK-LABEL: func @cross
// CHECK: exec.attention
func.func @cross(%q: tensor<2x4x2x8xbf16>, %k: tensor<2x6x2x8xbf16>, %v: tensor<2x6x2x8xbf16>) -> tensor<2x4x2x8xbf16> {
  // expected-remark @below {{is a call}}
  %o, %lse = tg.attention %q, %k, %v scale 1.0
      : (tensor<2x4x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>) -> (tensor<2x4x2x8xbf16>, tensor<2x2x4xf32>)
  return %o : tensor<2x4x2x8xbf16>
}

// -----

// CHECK-LABEL: func @wide_elements
// CHECK: exec.attention({{.*}} tiles :
func.func @wide_elements(%q: tensor<2x4x2x8xf32>) -> tensor<2x4x2x8xf32> {
  // expected-remark @below {{is computed by tiles, which keep the scores on chip: its elements are f32, but the library supports only bf16}}
  %o, %lse = tg.attention %q, %q, %q scale 1.0
      : (tensor<2x4x2x8xf32>, tensor<2x4x2x8xf32>, tensor<2x4x2x8xf32>) -> (tensor<2x4x2x8xf32>, tensor<2x2x4xf32>)
  return %o : tensor<2x4x2x8xf32>
}

// -----

// CHECK-LABEL: func @large_heads
// CHECK: exec.attention({{.*}} tiles :
func.func @large_heads(%q: tensor<2x4x2x136xbf16>) -> tensor<2x4x2x136xbf16> {
  // expected-remark @below {{is computed by tiles, which keep the scores on chip: heads have size 136, but the library supports at most 128}}
  %o, %lse = tg.attention %q, %q, %q scale 1.0
      : (tensor<2x4x2x136xbf16>, tensor<2x4x2x136xbf16>, tensor<2x4x2x136xbf16>) -> (tensor<2x4x2x136xbf16>, tensor<2x2x4xf32>)
  return %o : tensor<2x4x2x136xbf16>
}

// -----

// CHECK-LABEL: func @odd_heads
// CHECK: exec.attention({{.*}} tiles :
func.func @odd_heads(%q: tensor<2x4x2x12xbf16>) -> tensor<2x4x2x12xbf16> {
  // expected-remark @below {{is computed by tiles, which keep the scores on chip: heads have size 12, but the library supports only multiples of 8}}
  %o, %lse = tg.attention %q, %q, %q scale 1.0
      : (tensor<2x4x2x12xbf16>, tensor<2x4x2x12xbf16>, tensor<2x4x2x12xbf16>) -> (tensor<2x4x2x12xbf16>, tensor<2x2x4xf32>)
  return %o : tensor<2x4x2x12xbf16>
}

// -----

// CHECK-LABEL: func @one_position
// CHECK: exec.attention({{.*}} tiles :
func.func @one_position(%q: tensor<2x1x2x8xbf16>, %k: tensor<2x4x2x8xbf16>) -> tensor<2x1x2x8xbf16> {
  // expected-remark @below {{is computed by tiles, which keep the scores on chip: the sequence has 1 positions, but the library needs at least 2}}
  %o, %lse = tg.attention %q, %k, %k scale 1.0
      : (tensor<2x1x2x8xbf16>, tensor<2x4x2x8xbf16>, tensor<2x4x2x8xbf16>) -> (tensor<2x1x2x8xbf16>, tensor<2x2x1xf32>)
  return %o : tensor<2x1x2x8xbf16>
}

// -----

// CHECK-LABEL: func @double
// CHECK: tg.attention
func.func @double(%q: tensor<2x4x2x8xf64>) -> tensor<2x4x2x8xf64> {
  // expected-remark @below {{decomposed: its elements are f64, but tiles support only f32 and bf16; its elements are f64, but the library supports only bf16}}
  %o, %lse = tg.attention %q, %q, %q scale 1.0
      : (tensor<2x4x2x8xf64>, tensor<2x4x2x8xf64>, tensor<2x4x2x8xf64>) -> (tensor<2x4x2x8xf64>, tensor<2x2x4xf64>)
  return %o : tensor<2x4x2x8xf64>
}

// -----

// CHECK-LABEL: func @positions
// CHECK: exec.attention(%{{.*}}, %{{.*}}, %{{.*}} at %{{.*}}, %{{.*}} : tensor<i32>, tensor<i32>) scale 1.000000e+00 causal tiles :
func.func @positions(%q: tensor<2x4x2x8xbf16>, %first: tensor<i32>, %zero: tensor<i32>) -> tensor<2x4x2x8xbf16> {
  // expected-remark @below {{is computed by tiles, which keep the scores on chip: the positions of its queries and keys are known only at run time, which the library does not support}}
  %o, %lse = tg.attention %q, %q, %q at %first, %zero scale 1.0 causal
      : (tensor<2x4x2x8xbf16>, tensor<2x4x2x8xbf16>, tensor<2x4x2x8xbf16>, tensor<i32>, tensor<i32>) -> (tensor<2x4x2x8xbf16>, tensor<2x2x4xf32>)
  return %o : tensor<2x4x2x8xbf16>
}
