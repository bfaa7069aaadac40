// Rows of several documents in attention on a CPU: calls compute what the definition does in f64, on
// processors with vectors of 4, 8 and 16 lanes, with the same bits for any number of threads.  A row that
// is one document has the bits of attention without documents.
// DEFINE: %{lower} = exec-select-attention,tg-decompose,exec-select-calls,exec-form-kernels,exec-fuse-kernels),exec-plan-memory,exec-outline-kernels,exec-verify-plan,exec-verify-memory)
// RUN: braid-opt %s --pass-pipeline="builtin.module(func.func(%{lower}" -o %t.memory
// RUN: braidc %t.memory --emit=cpp | FileCheck %s
// RUN: braidc %t.memory -o %t.native
// RUN: braidc %t.memory -o %t.avx2 --cpu=x86-64-v3
// RUN: braidc %t.memory -o %t.sse2 --cpu=x86-64
// The definition is also what the interpreter computes in plain loops.
// RUN: sed s/bf16/f32/g %s | braid-interp --compare --pipeline=tg-decompose,tg-verify-primitives --arithmetic=f64 --rtol=1e-6

// DEFINE: %{function} =
// DEFINE: %{rtol} = 1e-5
// DEFINE: %{expect} = braid-interp %s --function=%{function} --arithmetic=f64 --rtol=%{rtol} --inputs=%t.1.st --expect
// DEFINE: %{check} = %t.native run --program %{function} --outputs %t.1.st --threads 1 && \
// DEFINE:   %t.native run --program %{function} --inputs %t.1.st --outputs %t.2.st --threads 2 && cmp %t.1.st %t.2.st && \
// DEFINE:   %t.avx2 run --program %{function} --inputs %t.1.st --outputs %t.3.st && \
// DEFINE:   %t.sse2 run --program %{function} --inputs %t.1.st --outputs %t.4.st && \
// DEFINE:   %{expect}=%t.1.st && %{expect}=%t.3.st && %{expect}=%t.4.st
// REDEFINE: %{function} = run_packed
// RUN: %{check}
// REDEFINE: %{function} = run_mixed
// RUN: %{check}
// REDEFINE: %{function} = run_part
// RUN: %{check}
// REDEFINE: %{function} = run_capped
// RUN: %{check}
// REDEFINE: %{rtol} = 1e-2
// REDEFINE: %{function} = run_half
// RUN: %{check}

// One document a row changes no bit: its number is anything.
// RUN: sed 's/%documents = arith.divsi .*/%documents = arith.constant dense<-7> : tensor<2x300xi32>/' %s | sed -n '/@run_packed/,/^}/p' > %t.one.mlir
// RUN: sed -e 's/, %documents scale/ scale/' -e 's/, tensor<2x300xi32>)/)/' %t.one.mlir > %t.none.mlir
// RUN: braid-opt %t.one.mlir --pass-pipeline="builtin.module(func.func(canonicalize,%{lower}" | braidc - -o %t.one
// RUN: braid-opt %t.none.mlir --pass-pipeline="builtin.module(func.func(canonicalize,%{lower}" | braidc - -o %t.none
// RUN: %t.none run --program run_packed --outputs %t.none.st
// RUN: %t.one run --program run_packed --inputs %t.none.st --outputs %t.one.st
// RUN: cmp %t.none.st %t.one.st

// CHECK: launch_rows(ctx, 2, 300, copy_kernel, m[[DOCUMENTS:\[[a-z0-9_]*copy\]]]);
// CHECK: // reads arg0, arg1, arg2, copy; writes result0, result1
// CHECK: attention<float, 20, {{[0-9]+}}>(ctx, attention0, m[arg0], m[arg1], m[arg2],
// CHECK-NEXT: m[result0], m[result1], {m[[DOCUMENTS]]});

func.func @run_packed(%q: tensor<2x300x4x20xf32>, %k: tensor<2x300x2x20xf32>, %v: tensor<2x300x2x20xf32>, %do: tensor<2x300x4x20xf32>) -> (tensor<2x300x4x20xf32>, tensor<2x4x300xf32>, tensor<2x300x4x20xf32>, tensor<2x300x2x20xf32>, tensor<2x300x2x20xf32>) {
  // Documents of 70 positions, of which each row begins elsewhere in the first.
  %position = tg.iota dim 1 : tensor<2x300xi32>
  %row = tg.iota dim 0 : tensor<2x300xi32>
  %shift = arith.constant dense<11> : tensor<2x300xi32>
  %size = arith.constant dense<70> : tensor<2x300xi32>
  %begin = arith.muli %row, %shift : tensor<2x300xi32>
  %moved = arith.addi %position, %begin : tensor<2x300xi32>
  %documents = arith.divsi %moved, %size : tensor<2x300xi32>
  %o, %lse = tg.attention %q, %k, %v, %documents scale 0.4 causal
      : (tensor<2x300x4x20xf32>, tensor<2x300x2x20xf32>, tensor<2x300x2x20xf32>, tensor<2x300xi32>) -> (tensor<2x300x4x20xf32>, tensor<2x4x300xf32>)
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do, %documents scale 0.4 causal
      : (tensor<2x300x4x20xf32>, tensor<2x300x2x20xf32>, tensor<2x300x2x20xf32>, tensor<2x300x4x20xf32>, tensor<2x4x300xf32>, tensor<2x300x4x20xf32>, tensor<2x300xi32>) -> (tensor<2x300x4x20xf32>, tensor<2x300x2x20xf32>, tensor<2x300x2x20xf32>)
  return %o, %lse, %dq, %dk, %dv : tensor<2x300x4x20xf32>, tensor<2x4x300xf32>, tensor<2x300x4x20xf32>, tensor<2x300x2x20xf32>, tensor<2x300x2x20xf32>
}

func.func @run_mixed(%q: tensor<2x70x2x16xf32>, %k: tensor<2x70x2x16xf32>, %v: tensor<2x70x2x16xf32>, %do: tensor<2x70x2x16xf32>) -> (tensor<2x70x2x16xf32>, tensor<2x2x70xf32>, tensor<2x70x2x16xf32>, tensor<2x70x2x16xf32>, tensor<2x70x2x16xf32>) {
  // One beside the other: no tile is left out.
  %position = tg.iota dim 1 : tensor<2x70xi32>
  %number = arith.constant dense<3> : tensor<2x70xi32>
  %documents = arith.remsi %position, %number : tensor<2x70xi32>
  %o, %lse = tg.attention %q, %k, %v, %documents scale 0.5
      : (tensor<2x70x2x16xf32>, tensor<2x70x2x16xf32>, tensor<2x70x2x16xf32>, tensor<2x70xi32>) -> (tensor<2x70x2x16xf32>, tensor<2x2x70xf32>)
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do, %documents scale 0.5
      : (tensor<2x70x2x16xf32>, tensor<2x70x2x16xf32>, tensor<2x70x2x16xf32>, tensor<2x70x2x16xf32>, tensor<2x2x70xf32>, tensor<2x70x2x16xf32>, tensor<2x70xi32>) -> (tensor<2x70x2x16xf32>, tensor<2x70x2x16xf32>, tensor<2x70x2x16xf32>)
  return %o, %lse, %dq, %dk, %dv : tensor<2x70x2x16xf32>, tensor<2x2x70xf32>, tensor<2x70x2x16xf32>, tensor<2x70x2x16xf32>, tensor<2x70x2x16xf32>
}

func.func @run_part(%q: tensor<1x50x2x12xf32>, %k: tensor<1x131x1x12xf32>, %v: tensor<1x131x1x12xf32>, %do: tensor<1x50x2x12xf32>) -> (tensor<1x50x2x12xf32>, tensor<1x2x50xf32>, tensor<1x50x2x12xf32>, tensor<1x131x1x12xf32>, tensor<1x131x1x12xf32>) {
  // Documents of 37 positions, of which each row begins elsewhere in the first.
  %position = tg.iota dim 1 : tensor<1x131xi32>
  %row = tg.iota dim 0 : tensor<1x131xi32>
  %shift = arith.constant dense<11> : tensor<1x131xi32>
  %size = arith.constant dense<37> : tensor<1x131xi32>
  %begin = arith.muli %row, %shift : tensor<1x131xi32>
  %moved = arith.addi %position, %begin : tensor<1x131xi32>
  %documents = arith.divsi %moved, %size : tensor<1x131xi32>
  %o, %lse = tg.attention %q, %k, %v, %documents scale 0.5 causal window 40 offset 81
      : (tensor<1x50x2x12xf32>, tensor<1x131x1x12xf32>, tensor<1x131x1x12xf32>, tensor<1x131xi32>) -> (tensor<1x50x2x12xf32>, tensor<1x2x50xf32>)
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do, %documents scale 0.5 causal window 40 offset 81
      : (tensor<1x50x2x12xf32>, tensor<1x131x1x12xf32>, tensor<1x131x1x12xf32>, tensor<1x50x2x12xf32>, tensor<1x2x50xf32>, tensor<1x50x2x12xf32>, tensor<1x131xi32>) -> (tensor<1x50x2x12xf32>, tensor<1x131x1x12xf32>, tensor<1x131x1x12xf32>)
  return %o, %lse, %dq, %dk, %dv : tensor<1x50x2x12xf32>, tensor<1x2x50xf32>, tensor<1x50x2x12xf32>, tensor<1x131x1x12xf32>, tensor<1x131x1x12xf32>
}

func.func @run_capped(%q: tensor<2x131x2x8xf32>, %k: tensor<2x131x2x8xf32>, %v: tensor<2x131x2x8xf32>, %do: tensor<2x131x2x8xf32>) -> (tensor<2x131x2x8xf32>, tensor<2x2x131xf32>, tensor<2x131x2x8xf32>, tensor<2x131x2x8xf32>, tensor<2x131x2x8xf32>) {
  // Documents of 50 positions, of which each row begins elsewhere in the first.
  %position = tg.iota dim 1 : tensor<2x131xi32>
  %row = tg.iota dim 0 : tensor<2x131xi32>
  %shift = arith.constant dense<11> : tensor<2x131xi32>
  %size = arith.constant dense<50> : tensor<2x131xi32>
  %begin = arith.muli %row, %shift : tensor<2x131xi32>
  %moved = arith.addi %position, %begin : tensor<2x131xi32>
  %documents = arith.divsi %moved, %size : tensor<2x131xi32>
  %o, %lse = tg.attention %q, %k, %v, %documents scale 1.0 causal softcap 3.0
      : (tensor<2x131x2x8xf32>, tensor<2x131x2x8xf32>, tensor<2x131x2x8xf32>, tensor<2x131xi32>) -> (tensor<2x131x2x8xf32>, tensor<2x2x131xf32>)
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do, %documents scale 1.0 causal softcap 3.0
      : (tensor<2x131x2x8xf32>, tensor<2x131x2x8xf32>, tensor<2x131x2x8xf32>, tensor<2x131x2x8xf32>, tensor<2x2x131xf32>, tensor<2x131x2x8xf32>, tensor<2x131xi32>) -> (tensor<2x131x2x8xf32>, tensor<2x131x2x8xf32>, tensor<2x131x2x8xf32>)
  return %o, %lse, %dq, %dk, %dv : tensor<2x131x2x8xf32>, tensor<2x2x131xf32>, tensor<2x131x2x8xf32>, tensor<2x131x2x8xf32>, tensor<2x131x2x8xf32>
}

func.func @run_half(%q: tensor<2x70x2x16xbf16>, %k: tensor<2x70x2x16xbf16>, %v: tensor<2x70x2x16xbf16>, %do: tensor<2x70x2x16xbf16>) -> (tensor<2x70x2x16xbf16>, tensor<2x2x70xf32>, tensor<2x70x2x16xbf16>, tensor<2x70x2x16xbf16>, tensor<2x70x2x16xbf16>) {
  // Documents of 24 positions, of which each row begins elsewhere in the first.
  %position = tg.iota dim 1 : tensor<2x70xi32>
  %row = tg.iota dim 0 : tensor<2x70xi32>
  %shift = arith.constant dense<11> : tensor<2x70xi32>
  %size = arith.constant dense<24> : tensor<2x70xi32>
  %begin = arith.muli %row, %shift : tensor<2x70xi32>
  %moved = arith.addi %position, %begin : tensor<2x70xi32>
  %documents = arith.divsi %moved, %size : tensor<2x70xi32>
  %o, %lse = tg.attention %q, %k, %v, %documents scale 0.5 causal
      : (tensor<2x70x2x16xbf16>, tensor<2x70x2x16xbf16>, tensor<2x70x2x16xbf16>, tensor<2x70xi32>) -> (tensor<2x70x2x16xbf16>, tensor<2x2x70xf32>)
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do, %documents scale 0.5 causal
      : (tensor<2x70x2x16xbf16>, tensor<2x70x2x16xbf16>, tensor<2x70x2x16xbf16>, tensor<2x70x2x16xbf16>, tensor<2x2x70xf32>, tensor<2x70x2x16xbf16>, tensor<2x70xi32>) -> (tensor<2x70x2x16xbf16>, tensor<2x70x2x16xbf16>, tensor<2x70x2x16xbf16>)
  return %o, %lse, %dq, %dk, %dv : tensor<2x70x2x16xbf16>, tensor<2x2x70xf32>, tensor<2x70x2x16xbf16>, tensor<2x70x2x16xbf16>, tensor<2x70x2x16xbf16>
}
