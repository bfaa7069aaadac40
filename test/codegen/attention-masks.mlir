// Masks of attention and soft-capped scores on a CPU: calls compute what the definition does in
// f64, on processors with vectors of 4, 8 and 16 lanes, with the same bits for any number of threads;
// tiles that a window leaves out are skipped.
// DEFINE: %{lower} = exec-select-attention,tg-decompose,exec-select-calls,exec-form-kernels,exec-fuse-kernels),exec-plan-memory,exec-outline-kernels,exec-verify-plan,exec-verify-memory)
// RUN: braid-opt %s --pass-pipeline="builtin.module(func.func(%{lower}" -o %t.memory
// RUN: braidc %t.memory --emit=cpp | FileCheck %s
// RUN: braidc %t.memory -o %t.native
// RUN: braidc %t.memory -o %t.x8664 --cpu=x86-64
// The definition is also what the interpreter computes in plain loops.
// RUN: sed s/bf16/f32/g %s | braid-interp --compare --pipeline=tg-decompose,tg-verify-primitives --arithmetic=f64 --rtol=1e-6

// DEFINE: %{function} =
// DEFINE: %{rtol} = 1e-5
// DEFINE: %{expect} = braid-interp %s --function=%{function} --arithmetic=f64 --rtol=%{rtol} --inputs=%t.1.st --expect
// DEFINE: %{check} = %t.native run --program %{function} --outputs %t.1.st --threads 1 && \
// DEFINE:   %t.native run --program %{function} --inputs %t.1.st --outputs %t.2.st --threads 2 && cmp %t.1.st %t.2.st && \
// DEFINE:   %t.x8664 run --program %{function} --inputs %t.1.st --outputs %t.3.st && %{expect}=%t.1.st && %{expect}=%t.3.st
// REDEFINE: %{function} = run_window
// RUN: %{check}
// REDEFINE: %{function} = run_narrow
// RUN: %{check}
// REDEFINE: %{function} = run_offset
// RUN: %{check}
// REDEFINE: %{function} = run_both
// RUN: %{check}
// REDEFINE: %{function} = run_softcap
// RUN: %{check}
// REDEFINE: %{function} = run_all
// RUN: %{check}
// REDEFINE: %{rtol} = 1e-2
// REDEFINE: %{function} = run_half
// RUN: %{check}

// CHECK: .scale = 0.4, .causal = 1, .window = 37,
// CHECK: .causal = 1, .first = 81,
// CHECK: .causal = 1, .window = 20, .first = 100,
// CHECK: .scale = 1.0, .softcap = 2.5,
// CHECK: attention<float, 16, 64, true>(ctx,

func.func @run_window(%q: tensor<2x131x4x20xf32>, %k: tensor<2x131x2x20xf32>, %v: tensor<2x131x2x20xf32>, %do: tensor<2x131x4x20xf32>) -> (tensor<2x131x4x20xf32>, tensor<2x4x131xf32>, tensor<2x131x4x20xf32>, tensor<2x131x2x20xf32>, tensor<2x131x2x20xf32>) {
  %o, %lse = tg.attention %q, %k, %v scale 0.4 causal window 37
      : (tensor<2x131x4x20xf32>, tensor<2x131x2x20xf32>, tensor<2x131x2x20xf32>) -> (tensor<2x131x4x20xf32>, tensor<2x4x131xf32>)
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do scale 0.4 causal window 37
      : (tensor<2x131x4x20xf32>, tensor<2x131x2x20xf32>, tensor<2x131x2x20xf32>, tensor<2x131x4x20xf32>, tensor<2x4x131xf32>, tensor<2x131x4x20xf32>) -> (tensor<2x131x4x20xf32>, tensor<2x131x2x20xf32>, tensor<2x131x2x20xf32>)
  return %o, %lse, %dq, %dk, %dv : tensor<2x131x4x20xf32>, tensor<2x4x131xf32>, tensor<2x131x4x20xf32>, tensor<2x131x2x20xf32>, tensor<2x131x2x20xf32>
}

func.func @run_narrow(%q: tensor<1x200x2x8xf32>, %k: tensor<1x200x2x8xf32>, %v: tensor<1x200x2x8xf32>, %do: tensor<1x200x2x8xf32>) -> (tensor<1x200x2x8xf32>, tensor<1x2x200xf32>, tensor<1x200x2x8xf32>, tensor<1x200x2x8xf32>, tensor<1x200x2x8xf32>) {
  %o, %lse = tg.attention %q, %k, %v scale 1.0 causal window 2
      : (tensor<1x200x2x8xf32>, tensor<1x200x2x8xf32>, tensor<1x200x2x8xf32>) -> (tensor<1x200x2x8xf32>, tensor<1x2x200xf32>)
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do scale 1.0 causal window 2
      : (tensor<1x200x2x8xf32>, tensor<1x200x2x8xf32>, tensor<1x200x2x8xf32>, tensor<1x200x2x8xf32>, tensor<1x2x200xf32>, tensor<1x200x2x8xf32>) -> (tensor<1x200x2x8xf32>, tensor<1x200x2x8xf32>, tensor<1x200x2x8xf32>)
  return %o, %lse, %dq, %dk, %dv : tensor<1x200x2x8xf32>, tensor<1x2x200xf32>, tensor<1x200x2x8xf32>, tensor<1x200x2x8xf32>, tensor<1x200x2x8xf32>
}

func.func @run_offset(%q: tensor<1x50x2x12xf32>, %k: tensor<1x131x1x12xf32>, %v: tensor<1x131x1x12xf32>, %do: tensor<1x50x2x12xf32>) -> (tensor<1x50x2x12xf32>, tensor<1x2x50xf32>, tensor<1x50x2x12xf32>, tensor<1x131x1x12xf32>, tensor<1x131x1x12xf32>) {
  %o, %lse = tg.attention %q, %k, %v scale 0.5 causal offset 81
      : (tensor<1x50x2x12xf32>, tensor<1x131x1x12xf32>, tensor<1x131x1x12xf32>) -> (tensor<1x50x2x12xf32>, tensor<1x2x50xf32>)
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do scale 0.5 causal offset 81
      : (tensor<1x50x2x12xf32>, tensor<1x131x1x12xf32>, tensor<1x131x1x12xf32>, tensor<1x50x2x12xf32>, tensor<1x2x50xf32>, tensor<1x50x2x12xf32>) -> (tensor<1x50x2x12xf32>, tensor<1x131x1x12xf32>, tensor<1x131x1x12xf32>)
  return %o, %lse, %dq, %dk, %dv : tensor<1x50x2x12xf32>, tensor<1x2x50xf32>, tensor<1x50x2x12xf32>, tensor<1x131x1x12xf32>, tensor<1x131x1x12xf32>
}

func.func @run_both(%q: tensor<1x33x2x16xf32>, %k: tensor<1x170x2x16xf32>, %v: tensor<1x170x2x16xf32>, %do: tensor<1x33x2x16xf32>) -> (tensor<1x33x2x16xf32>, tensor<1x2x33xf32>, tensor<1x33x2x16xf32>, tensor<1x170x2x16xf32>, tensor<1x170x2x16xf32>) {
  %o, %lse = tg.attention %q, %k, %v scale 0.4 causal window 20 offset 100
      : (tensor<1x33x2x16xf32>, tensor<1x170x2x16xf32>, tensor<1x170x2x16xf32>) -> (tensor<1x33x2x16xf32>, tensor<1x2x33xf32>)
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do scale 0.4 causal window 20 offset 100
      : (tensor<1x33x2x16xf32>, tensor<1x170x2x16xf32>, tensor<1x170x2x16xf32>, tensor<1x33x2x16xf32>, tensor<1x2x33xf32>, tensor<1x33x2x16xf32>) -> (tensor<1x33x2x16xf32>, tensor<1x170x2x16xf32>, tensor<1x170x2x16xf32>)
  return %o, %lse, %dq, %dk, %dv : tensor<1x33x2x16xf32>, tensor<1x2x33xf32>, tensor<1x33x2x16xf32>, tensor<1x170x2x16xf32>, tensor<1x170x2x16xf32>
}

func.func @run_softcap(%q: tensor<2x60x2x16xf32>, %k: tensor<2x60x1x16xf32>, %v: tensor<2x60x1x16xf32>, %do: tensor<2x60x2x16xf32>) -> (tensor<2x60x2x16xf32>, tensor<2x2x60xf32>, tensor<2x60x2x16xf32>, tensor<2x60x1x16xf32>, tensor<2x60x1x16xf32>) {
  %o, %lse = tg.attention %q, %k, %v scale 1.0 softcap 2.5
      : (tensor<2x60x2x16xf32>, tensor<2x60x1x16xf32>, tensor<2x60x1x16xf32>) -> (tensor<2x60x2x16xf32>, tensor<2x2x60xf32>)
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do scale 1.0 softcap 2.5
      : (tensor<2x60x2x16xf32>, tensor<2x60x1x16xf32>, tensor<2x60x1x16xf32>, tensor<2x60x2x16xf32>, tensor<2x2x60xf32>, tensor<2x60x2x16xf32>) -> (tensor<2x60x2x16xf32>, tensor<2x60x1x16xf32>, tensor<2x60x1x16xf32>)
  return %o, %lse, %dq, %dk, %dv : tensor<2x60x2x16xf32>, tensor<2x2x60xf32>, tensor<2x60x2x16xf32>, tensor<2x60x1x16xf32>, tensor<2x60x1x16xf32>
}

func.func @run_all(%q: tensor<1x131x2x8xf32>, %k: tensor<1x131x2x8xf32>, %v: tensor<1x131x2x8xf32>, %do: tensor<1x131x2x8xf32>) -> (tensor<1x131x2x8xf32>, tensor<1x2x131xf32>, tensor<1x131x2x8xf32>, tensor<1x131x2x8xf32>, tensor<1x131x2x8xf32>) {
  %o, %lse = tg.attention %q, %k, %v scale 1.0 causal window 64 softcap 3.0
      : (tensor<1x131x2x8xf32>, tensor<1x131x2x8xf32>, tensor<1x131x2x8xf32>) -> (tensor<1x131x2x8xf32>, tensor<1x2x131xf32>)
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do scale 1.0 causal window 64 softcap 3.0
      : (tensor<1x131x2x8xf32>, tensor<1x131x2x8xf32>, tensor<1x131x2x8xf32>, tensor<1x131x2x8xf32>, tensor<1x2x131xf32>, tensor<1x131x2x8xf32>) -> (tensor<1x131x2x8xf32>, tensor<1x131x2x8xf32>, tensor<1x131x2x8xf32>)
  return %o, %lse, %dq, %dk, %dv : tensor<1x131x2x8xf32>, tensor<1x2x131xf32>, tensor<1x131x2x8xf32>, tensor<1x131x2x8xf32>, tensor<1x131x2x8xf32>
}

func.func @run_half(%q: tensor<1x70x2x16xbf16>, %k: tensor<1x70x2x16xbf16>, %v: tensor<1x70x2x16xbf16>, %do: tensor<1x70x2x16xbf16>) -> (tensor<1x70x2x16xbf16>, tensor<1x2x70xf32>, tensor<1x70x2x16xbf16>, tensor<1x70x2x16xbf16>, tensor<1x70x2x16xbf16>) {
  %o, %lse = tg.attention %q, %k, %v scale 0.5 causal window 24 softcap 4.0
      : (tensor<1x70x2x16xbf16>, tensor<1x70x2x16xbf16>, tensor<1x70x2x16xbf16>) -> (tensor<1x70x2x16xbf16>, tensor<1x2x70xf32>)
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do scale 0.5 causal window 24 softcap 4.0
      : (tensor<1x70x2x16xbf16>, tensor<1x70x2x16xbf16>, tensor<1x70x2x16xbf16>, tensor<1x70x2x16xbf16>, tensor<1x2x70xf32>, tensor<1x70x2x16xbf16>) -> (tensor<1x70x2x16xbf16>, tensor<1x70x2x16xbf16>, tensor<1x70x2x16xbf16>)
  return %o, %lse, %dq, %dk, %dv : tensor<1x70x2x16xbf16>, tensor<1x2x70xf32>, tensor<1x70x2x16xbf16>, tensor<1x70x2x16xbf16>, tensor<1x70x2x16xbf16>
}
