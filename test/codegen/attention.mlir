// Attention and its gradient on a CPU are calls, and compute what their definition does in f64,
// on processors with vectors of 4, 8 and 16 lanes, for any number of threads with the same bits:
// with and without the causal mask, with heads that share keys, where tiles do not divide the positions
// nor lanes the heads, and on parts of a packed projection.  No buffer has the size of the scores.
// DEFINE: %{lower} = tg-decompose,exec-select-calls,exec-form-kernels,exec-fuse-kernels),exec-plan-memory,exec-outline-kernels,exec-verify-plan,exec-verify-memory)
// RUN: braid-opt %s --pass-pipeline="builtin.module(func.func(exec-select-attention,%{lower}" -o %t.memory
// RUN: braidc %t.memory --emit=cpp | FileCheck %s
// RUN: braidc %t.memory -o %t.native
// RUN: braidc %t.memory -o %t.x8664 --cpu=x86-64

// DEFINE: %{function} = run_causal
// DEFINE: %{rtol} = 1e-5
// DEFINE: %{expect} = braid-interp %s --function=%{function} --arithmetic=f64 --rtol=%{rtol} --inputs=%t.1.st --expect
// DEFINE: %{check} = %t.native run --program %{function} --outputs %t.1.st --threads 1 && \
// DEFINE:   %t.native run --program %{function} --inputs %t.1.st --outputs %t.2.st --threads 2 && cmp %t.1.st %t.2.st && \
// DEFINE:   %t.native run --program %{function} --inputs %t.1.st --outputs %t.3.st --threads 3 && cmp %t.1.st %t.3.st && \
// DEFINE:   %t.x8664 run --program %{function} --inputs %t.1.st --outputs %t.4.st && %{expect}=%t.1.st && %{expect}=%t.4.st
// RUN: %{check}
// REDEFINE: %{function} = run_cross
// RUN: %{check}
// REDEFINE: %{function} = run_packed
// RUN: %{check}
// REDEFINE: %{function} = run_half
// REDEFINE: %{rtol} = 1e-2
// RUN: %{check}

// CHECK: #include "cpu/Attention.h"
// CHECK: static constexpr br_attention_desc attention0 = {.batch = 2, .heads = 4, .key_heads = 2, .queries = 131, .keys = 131, .size = 20,
// CHECK: attention<float, 20, 96>(ctx, attention0, m[
// CHECK: attention_grad<float, 20, 96>(ctx, attention1, m[
// CHECK: attention<float, 8, 32>(ctx, attention2, m[
// CHECK: attention<bf16, 16, 48>(ctx,

// RUN: FileCheck %s --check-prefix=PLAN < %t.memory
// RUN: braid-opt %s --pass-pipeline="builtin.module(func.func(%{lower}" | FileCheck %s --check-prefix=DECOMPOSED
// PLAN-NOT: 131x131x
// DECOMPOSED: 2x2x2x131x131xf32

func.func @run_causal(%q: tensor<2x131x4x20xf32>, %k: tensor<2x131x2x20xf32>, %v: tensor<2x131x2x20xf32>, %do: tensor<2x131x4x20xf32>)
    -> (tensor<2x131x4x20xf32>, tensor<2x4x131xf32>, tensor<2x131x4x20xf32>, tensor<2x131x2x20xf32>, tensor<2x131x2x20xf32>) {
  %o, %lse = tg.attention %q, %k, %v scale 0.4 causal
      : (tensor<2x131x4x20xf32>, tensor<2x131x2x20xf32>, tensor<2x131x2x20xf32>) -> (tensor<2x131x4x20xf32>, tensor<2x4x131xf32>)
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do scale 0.4 causal
      : (tensor<2x131x4x20xf32>, tensor<2x131x2x20xf32>, tensor<2x131x2x20xf32>, tensor<2x131x4x20xf32>, tensor<2x4x131xf32>, tensor<2x131x4x20xf32>)
      -> (tensor<2x131x4x20xf32>, tensor<2x131x2x20xf32>, tensor<2x131x2x20xf32>)
  return %o, %lse, %dq, %dk, %dv : tensor<2x131x4x20xf32>, tensor<2x4x131xf32>, tensor<2x131x4x20xf32>, tensor<2x131x2x20xf32>, tensor<2x131x2x20xf32>
}

func.func @run_cross(%q: tensor<3x5x3x8xf32>, %k: tensor<3x30x3x8xf32>, %v: tensor<3x30x3x8xf32>, %do: tensor<3x5x3x8xf32>)
    -> (tensor<3x5x3x8xf32>, tensor<3x5x3x8xf32>, tensor<3x30x3x8xf32>, tensor<3x30x3x8xf32>) {
  %o, %lse = tg.attention %q, %k, %v scale 1.0
      : (tensor<3x5x3x8xf32>, tensor<3x30x3x8xf32>, tensor<3x30x3x8xf32>) -> (tensor<3x5x3x8xf32>, tensor<3x3x5xf32>)
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do scale 1.0
      : (tensor<3x5x3x8xf32>, tensor<3x30x3x8xf32>, tensor<3x30x3x8xf32>, tensor<3x5x3x8xf32>, tensor<3x3x5xf32>, tensor<3x5x3x8xf32>)
      -> (tensor<3x5x3x8xf32>, tensor<3x30x3x8xf32>, tensor<3x30x3x8xf32>)
  return %o, %dq, %dk, %dv : tensor<3x5x3x8xf32>, tensor<3x5x3x8xf32>, tensor<3x30x3x8xf32>, tensor<3x30x3x8xf32>
}

func.func @run_packed(%qkv: tensor<2x40x96xf32>, %do: tensor<2x40x2x16xf32>) -> (tensor<2x40x2x16xf32>, tensor<2x40x96xf32>) {
  %q0 = tg.slice %qkv dim 2 offset 0 size 32 : tensor<2x40x96xf32> -> tensor<2x40x32xf32>
  %k0 = tg.slice %qkv dim 2 offset 32 size 32 : tensor<2x40x96xf32> -> tensor<2x40x32xf32>
  %v0 = tg.slice %qkv dim 2 offset 64 size 32 : tensor<2x40x96xf32> -> tensor<2x40x32xf32>
  %q = tg.reshape %q0 : tensor<2x40x32xf32> -> tensor<2x40x2x16xf32>
  %k = tg.reshape %k0 : tensor<2x40x32xf32> -> tensor<2x40x2x16xf32>
  %v = tg.reshape %v0 : tensor<2x40x32xf32> -> tensor<2x40x2x16xf32>
  %o, %lse = tg.attention %q, %k, %v scale 0.25 causal
      : (tensor<2x40x2x16xf32>, tensor<2x40x2x16xf32>, tensor<2x40x2x16xf32>) -> (tensor<2x40x2x16xf32>, tensor<2x2x40xf32>)
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do scale 0.25 causal
      : (tensor<2x40x2x16xf32>, tensor<2x40x2x16xf32>, tensor<2x40x2x16xf32>, tensor<2x40x2x16xf32>, tensor<2x2x40xf32>, tensor<2x40x2x16xf32>)
      -> (tensor<2x40x2x16xf32>, tensor<2x40x2x16xf32>, tensor<2x40x2x16xf32>)
  %dq0 = tg.reshape %dq : tensor<2x40x2x16xf32> -> tensor<2x40x32xf32>
  %dk0 = tg.reshape %dk : tensor<2x40x2x16xf32> -> tensor<2x40x32xf32>
  %dv0 = tg.reshape %dv : tensor<2x40x2x16xf32> -> tensor<2x40x32xf32>
  %dqkv = tg.concat %dq0, %dk0, %dv0 dim 2 : (tensor<2x40x32xf32>, tensor<2x40x32xf32>, tensor<2x40x32xf32>) -> tensor<2x40x96xf32>
  return %o, %dqkv : tensor<2x40x2x16xf32>, tensor<2x40x96xf32>
}

func.func @run_half(%q: tensor<2x37x8x16xbf16>, %k: tensor<2x37x2x16xbf16>, %v: tensor<2x37x2x16xbf16>, %do: tensor<2x37x8x16xbf16>)
    -> (tensor<2x37x8x16xbf16>, tensor<2x37x8x16xbf16>, tensor<2x37x2x16xbf16>, tensor<2x37x2x16xbf16>) {
  %o, %lse = tg.attention %q, %k, %v scale 0.25 causal
      : (tensor<2x37x8x16xbf16>, tensor<2x37x2x16xbf16>, tensor<2x37x2x16xbf16>) -> (tensor<2x37x8x16xbf16>, tensor<2x8x37xf32>)
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do scale 0.25 causal
      : (tensor<2x37x8x16xbf16>, tensor<2x37x2x16xbf16>, tensor<2x37x2x16xbf16>, tensor<2x37x8x16xbf16>, tensor<2x8x37xf32>, tensor<2x37x8x16xbf16>)
      -> (tensor<2x37x8x16xbf16>, tensor<2x37x2x16xbf16>, tensor<2x37x2x16xbf16>)
  return %o, %dq, %dk, %dv : tensor<2x37x8x16xbf16>, tensor<2x37x8x16xbf16>, tensor<2x37x2x16xbf16>, tensor<2x37x2x16xbf16>
}
