// Attention as a library call computes the same as its definition: on values, in memory,
// and reading the parts of a packed projection, and writing their gradients, in place.
// RUN: braid-interp %s --compare --seeds=2 --rtol=1e-2 --pipeline="func.func(exec-select-attention)"
// RUN: braid-interp %s --compare --seeds=2 --rtol=3e-2 --pipeline="func.func(tg-decompose)"
// RUN: braid-interp %s --compare --seeds=2 --rtol=1e-2 --pipeline="exec-set-target{name=cuda},func.func(exec-select-attention,tg-decompose,exec-select-calls,exec-form-kernels,exec-fuse-kernels),exec-plan-memory,exec-outline-kernels,exec-verify-plan,exec-verify-memory"

// No tensor of the packed form is copied: its parts are read and written with its strides.
// RUN: braid-opt %s --pass-pipeline="builtin.module(exec-set-target{name=cuda},func.func(exec-select-attention,tg-decompose,exec-select-calls,exec-form-kernels,exec-fuse-kernels),exec-plan-memory)" | FileCheck %s
// CHECK-LABEL: exec.program @packed
// CHECK-NOT: exec.kernel
// CHECK: exec.attention(
// CHECK-SAME: scale 2.500000e-01 causal : (!exec.ref<2x8x2x16xbf16, [768, 96, 16, 1]>, !exec.ref<2x8x2x16xbf16, [768, 96, 16, 1]>, !exec.ref<2x8x2x16xbf16, [768, 96, 16, 1]>)
// CHECK-NOT: exec.kernel
// CHECK: exec.attention_grad({{.*}}) outs({{.*}} : !exec.ref<2x8x2x16xbf16, [768, 96, 16, 1]>, !exec.ref<2x8x2x16xbf16, [768, 96, 16, 1]>, !exec.ref<2x8x2x16xbf16, [768, 96, 16, 1]>)
// CHECK-NOT: exec.kernel
// CHECK-LABEL: exec.program @size_strided
// CHECK: exec.kernel "copy"
// CHECK: exec.attention(

func.func @grouped(%q: tensor<2x8x4x16xbf16>, %k: tensor<2x8x2x16xbf16>, %v: tensor<2x8x2x16xbf16>, %do: tensor<2x8x4x16xbf16>)
    -> (tensor<2x8x4x16xbf16>, tensor<2x4x8xf32>, tensor<2x8x4x16xbf16>, tensor<2x8x2x16xbf16>, tensor<2x8x2x16xbf16>) {
  %o, %lse = tg.attention %q, %k, %v scale 0.25 causal
      : (tensor<2x8x4x16xbf16>, tensor<2x8x2x16xbf16>, tensor<2x8x2x16xbf16>) -> (tensor<2x8x4x16xbf16>, tensor<2x4x8xf32>)
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do scale 0.25 causal
      : (tensor<2x8x4x16xbf16>, tensor<2x8x2x16xbf16>, tensor<2x8x2x16xbf16>, tensor<2x8x4x16xbf16>, tensor<2x4x8xf32>, tensor<2x8x4x16xbf16>)
      -> (tensor<2x8x4x16xbf16>, tensor<2x8x2x16xbf16>, tensor<2x8x2x16xbf16>)
  return %o, %lse, %dq, %dk, %dv : tensor<2x8x4x16xbf16>, tensor<2x4x8xf32>, tensor<2x8x4x16xbf16>, tensor<2x8x2x16xbf16>, tensor<2x8x2x16xbf16>
}

func.func @packed(%qkv: tensor<2x8x96xbf16>, %do: tensor<2x8x2x16xbf16>) -> (tensor<2x8x2x16xbf16>, tensor<2x8x96xbf16>) {
  %q0 = tg.slice %qkv dim 2 offset 0 size 32 : tensor<2x8x96xbf16> -> tensor<2x8x32xbf16>
  %k0 = tg.slice %qkv dim 2 offset 32 size 32 : tensor<2x8x96xbf16> -> tensor<2x8x32xbf16>
  %v0 = tg.slice %qkv dim 2 offset 64 size 32 : tensor<2x8x96xbf16> -> tensor<2x8x32xbf16>
  %q = tg.reshape %q0 : tensor<2x8x32xbf16> -> tensor<2x8x2x16xbf16>
  %k = tg.reshape %k0 : tensor<2x8x32xbf16> -> tensor<2x8x2x16xbf16>
  %v = tg.reshape %v0 : tensor<2x8x32xbf16> -> tensor<2x8x2x16xbf16>
  %o, %lse = tg.attention %q, %k, %v scale 0.25 causal
      : (tensor<2x8x2x16xbf16>, tensor<2x8x2x16xbf16>, tensor<2x8x2x16xbf16>) -> (tensor<2x8x2x16xbf16>, tensor<2x2x8xf32>)
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do scale 0.25 causal
      : (tensor<2x8x2x16xbf16>, tensor<2x8x2x16xbf16>, tensor<2x8x2x16xbf16>, tensor<2x8x2x16xbf16>, tensor<2x2x8xf32>, tensor<2x8x2x16xbf16>)
      -> (tensor<2x8x2x16xbf16>, tensor<2x8x2x16xbf16>, tensor<2x8x2x16xbf16>)
  %dq0 = tg.reshape %dq : tensor<2x8x2x16xbf16> -> tensor<2x8x32xbf16>
  %dk0 = tg.reshape %dk : tensor<2x8x2x16xbf16> -> tensor<2x8x32xbf16>
  %dv0 = tg.reshape %dv : tensor<2x8x2x16xbf16> -> tensor<2x8x32xbf16>
  %dqkv = tg.concat %dq0, %dk0, %dv0 dim 2 : (tensor<2x8x32xbf16>, tensor<2x8x32xbf16>, tensor<2x8x32xbf16>) -> tensor<2x8x96xbf16>
  return %o, %dqkv : tensor<2x8x2x16xbf16>, tensor<2x8x96xbf16>
}

// What lies apart along the head is copied: a library reads 16 bytes at a time.
func.func @size_strided(%t: tensor<2x16x2x4xbf16>, %k: tensor<2x6x2x16xbf16>) -> tensor<2x4x2x16xbf16> {
  %q = tg.transpose %t [0, 3, 2, 1] : tensor<2x16x2x4xbf16> -> tensor<2x4x2x16xbf16>
  %o, %lse = tg.attention %q, %k, %k scale 1.0
      : (tensor<2x4x2x16xbf16>, tensor<2x6x2x16xbf16>, tensor<2x6x2x16xbf16>) -> (tensor<2x4x2x16xbf16>, tensor<2x2x4xf32>)
  return %o : tensor<2x4x2x16xbf16>
}
