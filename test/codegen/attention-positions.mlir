// Attention where the positions of the first query and of the first key are operands, as a rank's are that has a
// part of the sequence: calls on a CPU compute what the definition does in f64, with the same bits for any number of
// threads.  Queries that count no key have the result 0.
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
// REDEFINE: %{function} = run_last
// RUN: %{check}
// REDEFINE: %{function} = run_across
// RUN: %{check}
// REDEFINE: %{function} = run_behind
// RUN: %{check}
// REDEFINE: %{function} = run_before
// RUN: %{check}
// REDEFINE: %{function} = run_partly
// RUN: %{check}
// REDEFINE: %{function} = run_window
// RUN: %{check}
// REDEFINE: %{function} = run_outside
// RUN: %{check}
// REDEFINE: %{function} = run_documents
// RUN: %{check}
// REDEFINE: %{function} = run_both_ways
// RUN: %{check}
// REDEFINE: %{rtol} = 1e-2
// REDEFINE: %{function} = run_half
// RUN: %{check}

// CHECK: .scale = 0.5, .causal = 1,
// CHECK: .causal = 1, .window = 20,
// CHECK: .causal = 1, .positions = 131,
// CHECK: // reads arg0, arg1, arg2, fill, fill@2; writes result0, result1
// CHECK: attention<float, 20, {{[0-9]+}}>(ctx, attention0, m[arg0], m[arg1], m[arg2],
// CHECK-NEXT: m[result0], m[result1],
// CHECK-NEXT: {nullptr, m[fill], m[fill_2]});

func.func @run_last(%q: tensor<2x50x4x20xf32>, %k: tensor<2x131x2x20xf32>, %v: tensor<2x131x2x20xf32>, %do: tensor<2x50x4x20xf32>) -> (tensor<2x50x4x20xf32>, tensor<2x4x50xf32>, tensor<2x50x4x20xf32>, tensor<2x131x2x20xf32>, tensor<2x131x2x20xf32>) {
  %first = arith.constant dense<81> : tensor<i32>
  %key = arith.constant dense<0> : tensor<i32>
  %o, %rows = tg.attention %q, %k, %v at %first, %key scale 0.5 causal
      : (tensor<2x50x4x20xf32>, tensor<2x131x2x20xf32>, tensor<2x131x2x20xf32>, tensor<i32>, tensor<i32>) -> (tensor<2x50x4x20xf32>, tensor<2x4x50xf32>)
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %rows, %do at %first, %key scale 0.5 causal
      : (tensor<2x50x4x20xf32>, tensor<2x131x2x20xf32>, tensor<2x131x2x20xf32>, tensor<2x50x4x20xf32>, tensor<2x4x50xf32>, tensor<2x50x4x20xf32>, tensor<i32>, tensor<i32>) -> (tensor<2x50x4x20xf32>, tensor<2x131x2x20xf32>, tensor<2x131x2x20xf32>)
  // Of queries that count no key it is -inf, which is compared as another number.
  %least = arith.constant dense<-100.0> : tensor<2x4x50xf32>
  %lse = arith.maximumf %rows, %least : tensor<2x4x50xf32>
  return %o, %lse, %dq, %dk, %dv : tensor<2x50x4x20xf32>, tensor<2x4x50xf32>, tensor<2x50x4x20xf32>, tensor<2x131x2x20xf32>, tensor<2x131x2x20xf32>
}

func.func @run_across(%q: tensor<1x70x2x12xf32>, %k: tensor<1x70x1x12xf32>, %v: tensor<1x70x1x12xf32>, %do: tensor<1x70x2x12xf32>) -> (tensor<1x70x2x12xf32>, tensor<1x2x70xf32>, tensor<1x70x2x12xf32>, tensor<1x70x1x12xf32>, tensor<1x70x1x12xf32>) {
  %first = arith.constant dense<40> : tensor<i32>
  %key = arith.constant dense<10> : tensor<i32>
  %o, %rows = tg.attention %q, %k, %v at %first, %key scale 0.5 causal
      : (tensor<1x70x2x12xf32>, tensor<1x70x1x12xf32>, tensor<1x70x1x12xf32>, tensor<i32>, tensor<i32>) -> (tensor<1x70x2x12xf32>, tensor<1x2x70xf32>)
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %rows, %do at %first, %key scale 0.5 causal
      : (tensor<1x70x2x12xf32>, tensor<1x70x1x12xf32>, tensor<1x70x1x12xf32>, tensor<1x70x2x12xf32>, tensor<1x2x70xf32>, tensor<1x70x2x12xf32>, tensor<i32>, tensor<i32>) -> (tensor<1x70x2x12xf32>, tensor<1x70x1x12xf32>, tensor<1x70x1x12xf32>)
  // Of queries that count no key it is -inf, which is compared as another number.
  %least = arith.constant dense<-100.0> : tensor<1x2x70xf32>
  %lse = arith.maximumf %rows, %least : tensor<1x2x70xf32>
  return %o, %lse, %dq, %dk, %dv : tensor<1x70x2x12xf32>, tensor<1x2x70xf32>, tensor<1x70x2x12xf32>, tensor<1x70x1x12xf32>, tensor<1x70x1x12xf32>
}

func.func @run_behind(%q: tensor<1x40x2x16xf32>, %k: tensor<1x60x2x16xf32>, %v: tensor<1x60x2x16xf32>, %do: tensor<1x40x2x16xf32>) -> (tensor<1x40x2x16xf32>, tensor<1x2x40xf32>, tensor<1x40x2x16xf32>, tensor<1x60x2x16xf32>, tensor<1x60x2x16xf32>) {
  %first = arith.constant dense<200> : tensor<i32>
  %key = arith.constant dense<100> : tensor<i32>
  %o, %rows = tg.attention %q, %k, %v at %first, %key scale 0.5 causal
      : (tensor<1x40x2x16xf32>, tensor<1x60x2x16xf32>, tensor<1x60x2x16xf32>, tensor<i32>, tensor<i32>) -> (tensor<1x40x2x16xf32>, tensor<1x2x40xf32>)
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %rows, %do at %first, %key scale 0.5 causal
      : (tensor<1x40x2x16xf32>, tensor<1x60x2x16xf32>, tensor<1x60x2x16xf32>, tensor<1x40x2x16xf32>, tensor<1x2x40xf32>, tensor<1x40x2x16xf32>, tensor<i32>, tensor<i32>) -> (tensor<1x40x2x16xf32>, tensor<1x60x2x16xf32>, tensor<1x60x2x16xf32>)
  // Of queries that count no key it is -inf, which is compared as another number.
  %least = arith.constant dense<-100.0> : tensor<1x2x40xf32>
  %lse = arith.maximumf %rows, %least : tensor<1x2x40xf32>
  return %o, %lse, %dq, %dk, %dv : tensor<1x40x2x16xf32>, tensor<1x2x40xf32>, tensor<1x40x2x16xf32>, tensor<1x60x2x16xf32>, tensor<1x60x2x16xf32>
}

func.func @run_before(%q: tensor<1x40x2x16xf32>, %k: tensor<1x60x2x16xf32>, %v: tensor<1x60x2x16xf32>, %do: tensor<1x40x2x16xf32>) -> (tensor<1x40x2x16xf32>, tensor<1x2x40xf32>, tensor<1x40x2x16xf32>, tensor<1x60x2x16xf32>, tensor<1x60x2x16xf32>) {
  %first = arith.constant dense<0> : tensor<i32>
  %key = arith.constant dense<40> : tensor<i32>
  %o, %rows = tg.attention %q, %k, %v at %first, %key scale 0.5 causal
      : (tensor<1x40x2x16xf32>, tensor<1x60x2x16xf32>, tensor<1x60x2x16xf32>, tensor<i32>, tensor<i32>) -> (tensor<1x40x2x16xf32>, tensor<1x2x40xf32>)
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %rows, %do at %first, %key scale 0.5 causal
      : (tensor<1x40x2x16xf32>, tensor<1x60x2x16xf32>, tensor<1x60x2x16xf32>, tensor<1x40x2x16xf32>, tensor<1x2x40xf32>, tensor<1x40x2x16xf32>, tensor<i32>, tensor<i32>) -> (tensor<1x40x2x16xf32>, tensor<1x60x2x16xf32>, tensor<1x60x2x16xf32>)
  // Of queries that count no key it is -inf, which is compared as another number.
  %least = arith.constant dense<-100.0> : tensor<1x2x40xf32>
  %lse = arith.maximumf %rows, %least : tensor<1x2x40xf32>
  return %o, %lse, %dq, %dk, %dv : tensor<1x40x2x16xf32>, tensor<1x2x40xf32>, tensor<1x40x2x16xf32>, tensor<1x60x2x16xf32>, tensor<1x60x2x16xf32>
}

func.func @run_partly(%q: tensor<2x90x2x8xf32>, %k: tensor<2x60x1x8xf32>, %v: tensor<2x60x1x8xf32>, %do: tensor<2x90x2x8xf32>) -> (tensor<2x90x2x8xf32>, tensor<2x2x90xf32>, tensor<2x90x2x8xf32>, tensor<2x60x1x8xf32>, tensor<2x60x1x8xf32>) {
  %first = arith.constant dense<30> : tensor<i32>
  %key = arith.constant dense<70> : tensor<i32>
  %o, %rows = tg.attention %q, %k, %v at %first, %key scale 0.5 causal
      : (tensor<2x90x2x8xf32>, tensor<2x60x1x8xf32>, tensor<2x60x1x8xf32>, tensor<i32>, tensor<i32>) -> (tensor<2x90x2x8xf32>, tensor<2x2x90xf32>)
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %rows, %do at %first, %key scale 0.5 causal
      : (tensor<2x90x2x8xf32>, tensor<2x60x1x8xf32>, tensor<2x60x1x8xf32>, tensor<2x90x2x8xf32>, tensor<2x2x90xf32>, tensor<2x90x2x8xf32>, tensor<i32>, tensor<i32>) -> (tensor<2x90x2x8xf32>, tensor<2x60x1x8xf32>, tensor<2x60x1x8xf32>)
  // Of queries that count no key it is -inf, which is compared as another number.
  %least = arith.constant dense<-100.0> : tensor<2x2x90xf32>
  %lse = arith.maximumf %rows, %least : tensor<2x2x90xf32>
  return %o, %lse, %dq, %dk, %dv : tensor<2x90x2x8xf32>, tensor<2x2x90xf32>, tensor<2x90x2x8xf32>, tensor<2x60x1x8xf32>, tensor<2x60x1x8xf32>
}

func.func @run_window(%q: tensor<1x80x2x16xf32>, %k: tensor<1x100x2x16xf32>, %v: tensor<1x100x2x16xf32>, %do: tensor<1x80x2x16xf32>) -> (tensor<1x80x2x16xf32>, tensor<1x2x80xf32>, tensor<1x80x2x16xf32>, tensor<1x100x2x16xf32>, tensor<1x100x2x16xf32>) {
  %first = arith.constant dense<60> : tensor<i32>
  %key = arith.constant dense<35> : tensor<i32>
  %o, %rows = tg.attention %q, %k, %v at %first, %key scale 0.5 causal window 20
      : (tensor<1x80x2x16xf32>, tensor<1x100x2x16xf32>, tensor<1x100x2x16xf32>, tensor<i32>, tensor<i32>) -> (tensor<1x80x2x16xf32>, tensor<1x2x80xf32>)
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %rows, %do at %first, %key scale 0.5 causal window 20
      : (tensor<1x80x2x16xf32>, tensor<1x100x2x16xf32>, tensor<1x100x2x16xf32>, tensor<1x80x2x16xf32>, tensor<1x2x80xf32>, tensor<1x80x2x16xf32>, tensor<i32>, tensor<i32>) -> (tensor<1x80x2x16xf32>, tensor<1x100x2x16xf32>, tensor<1x100x2x16xf32>)
  // Of queries that count no key it is -inf, which is compared as another number.
  %least = arith.constant dense<-100.0> : tensor<1x2x80xf32>
  %lse = arith.maximumf %rows, %least : tensor<1x2x80xf32>
  return %o, %lse, %dq, %dk, %dv : tensor<1x80x2x16xf32>, tensor<1x2x80xf32>, tensor<1x80x2x16xf32>, tensor<1x100x2x16xf32>, tensor<1x100x2x16xf32>
}

func.func @run_outside(%q: tensor<1x40x2x16xf32>, %k: tensor<1x100x2x16xf32>, %v: tensor<1x100x2x16xf32>, %do: tensor<1x40x2x16xf32>) -> (tensor<1x40x2x16xf32>, tensor<1x2x40xf32>, tensor<1x40x2x16xf32>, tensor<1x100x2x16xf32>, tensor<1x100x2x16xf32>) {
  %first = arith.constant dense<200> : tensor<i32>
  %key = arith.constant dense<35> : tensor<i32>
  %o, %rows = tg.attention %q, %k, %v at %first, %key scale 0.5 causal window 20
      : (tensor<1x40x2x16xf32>, tensor<1x100x2x16xf32>, tensor<1x100x2x16xf32>, tensor<i32>, tensor<i32>) -> (tensor<1x40x2x16xf32>, tensor<1x2x40xf32>)
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %rows, %do at %first, %key scale 0.5 causal window 20
      : (tensor<1x40x2x16xf32>, tensor<1x100x2x16xf32>, tensor<1x100x2x16xf32>, tensor<1x40x2x16xf32>, tensor<1x2x40xf32>, tensor<1x40x2x16xf32>, tensor<i32>, tensor<i32>) -> (tensor<1x40x2x16xf32>, tensor<1x100x2x16xf32>, tensor<1x100x2x16xf32>)
  // Of queries that count no key it is -inf, which is compared as another number.
  %least = arith.constant dense<-100.0> : tensor<1x2x40xf32>
  %lse = arith.maximumf %rows, %least : tensor<1x2x40xf32>
  return %o, %lse, %dq, %dk, %dv : tensor<1x40x2x16xf32>, tensor<1x2x40xf32>, tensor<1x40x2x16xf32>, tensor<1x100x2x16xf32>, tensor<1x100x2x16xf32>
}

func.func @run_documents(%q: tensor<2x50x2x12xf32>, %k: tensor<2x60x1x12xf32>, %v: tensor<2x60x1x12xf32>, %do: tensor<2x50x2x12xf32>) -> (tensor<2x50x2x12xf32>, tensor<2x2x50xf32>, tensor<2x50x2x12xf32>, tensor<2x60x1x12xf32>, tensor<2x60x1x12xf32>) {
  %first = arith.constant dense<70> : tensor<i32>
  %key = arith.constant dense<30> : tensor<i32>
  // Documents of 37 positions, of which each row begins elsewhere in the first.
  %position = tg.iota dim 1 : tensor<2x131xi32>
  %row = tg.iota dim 0 : tensor<2x131xi32>
  %shift = arith.constant dense<11> : tensor<2x131xi32>
  %size = arith.constant dense<37> : tensor<2x131xi32>
  %begin = arith.muli %row, %shift : tensor<2x131xi32>
  %moved = arith.addi %position, %begin : tensor<2x131xi32>
  %documents = arith.divsi %moved, %size : tensor<2x131xi32>
  %o, %rows = tg.attention %q, %k, %v, %documents at %first, %key scale 0.5 causal
      : (tensor<2x50x2x12xf32>, tensor<2x60x1x12xf32>, tensor<2x60x1x12xf32>, tensor<2x131xi32>, tensor<i32>, tensor<i32>) -> (tensor<2x50x2x12xf32>, tensor<2x2x50xf32>)
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %rows, %do, %documents at %first, %key scale 0.5 causal
      : (tensor<2x50x2x12xf32>, tensor<2x60x1x12xf32>, tensor<2x60x1x12xf32>, tensor<2x50x2x12xf32>, tensor<2x2x50xf32>, tensor<2x50x2x12xf32>, tensor<2x131xi32>, tensor<i32>, tensor<i32>) -> (tensor<2x50x2x12xf32>, tensor<2x60x1x12xf32>, tensor<2x60x1x12xf32>)
  // Of queries that count no key it is -inf, which is compared as another number.
  %least = arith.constant dense<-100.0> : tensor<2x2x50xf32>
  %lse = arith.maximumf %rows, %least : tensor<2x2x50xf32>
  return %o, %lse, %dq, %dk, %dv : tensor<2x50x2x12xf32>, tensor<2x2x50xf32>, tensor<2x50x2x12xf32>, tensor<2x60x1x12xf32>, tensor<2x60x1x12xf32>
}

func.func @run_both_ways(%q: tensor<2x40x2x16xf32>, %k: tensor<2x60x2x16xf32>, %v: tensor<2x60x2x16xf32>, %do: tensor<2x40x2x16xf32>) -> (tensor<2x40x2x16xf32>, tensor<2x2x40xf32>, tensor<2x40x2x16xf32>, tensor<2x60x2x16xf32>, tensor<2x60x2x16xf32>) {
  %first = arith.constant dense<60> : tensor<i32>
  %key = arith.constant dense<30> : tensor<i32>
  // Documents of 25 positions, of which each row begins elsewhere in the first.
  %position = tg.iota dim 1 : tensor<2x120xi32>
  %row = tg.iota dim 0 : tensor<2x120xi32>
  %shift = arith.constant dense<11> : tensor<2x120xi32>
  %size = arith.constant dense<25> : tensor<2x120xi32>
  %begin = arith.muli %row, %shift : tensor<2x120xi32>
  %moved = arith.addi %position, %begin : tensor<2x120xi32>
  %documents = arith.divsi %moved, %size : tensor<2x120xi32>
  %o, %rows = tg.attention %q, %k, %v, %documents at %first, %key scale 0.5
      : (tensor<2x40x2x16xf32>, tensor<2x60x2x16xf32>, tensor<2x60x2x16xf32>, tensor<2x120xi32>, tensor<i32>, tensor<i32>) -> (tensor<2x40x2x16xf32>, tensor<2x2x40xf32>)
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %rows, %do, %documents at %first, %key scale 0.5
      : (tensor<2x40x2x16xf32>, tensor<2x60x2x16xf32>, tensor<2x60x2x16xf32>, tensor<2x40x2x16xf32>, tensor<2x2x40xf32>, tensor<2x40x2x16xf32>, tensor<2x120xi32>, tensor<i32>, tensor<i32>) -> (tensor<2x40x2x16xf32>, tensor<2x60x2x16xf32>, tensor<2x60x2x16xf32>)
  // Of queries that count no key it is -inf, which is compared as another number.
  %least = arith.constant dense<-100.0> : tensor<2x2x40xf32>
  %lse = arith.maximumf %rows, %least : tensor<2x2x40xf32>
  return %o, %lse, %dq, %dk, %dv : tensor<2x40x2x16xf32>, tensor<2x2x40xf32>, tensor<2x40x2x16xf32>, tensor<2x60x2x16xf32>, tensor<2x60x2x16xf32>
}

func.func @run_half(%q: tensor<1x40x2x16xbf16>, %k: tensor<1x40x2x16xbf16>, %v: tensor<1x40x2x16xbf16>, %do: tensor<1x40x2x16xbf16>) -> (tensor<1x40x2x16xbf16>, tensor<1x2x40xf32>, tensor<1x40x2x16xbf16>, tensor<1x40x2x16xbf16>, tensor<1x40x2x16xbf16>) {
  %first = arith.constant dense<60> : tensor<i32>
  %key = arith.constant dense<40> : tensor<i32>
  %o, %rows = tg.attention %q, %k, %v at %first, %key scale 0.5 causal
      : (tensor<1x40x2x16xbf16>, tensor<1x40x2x16xbf16>, tensor<1x40x2x16xbf16>, tensor<i32>, tensor<i32>) -> (tensor<1x40x2x16xbf16>, tensor<1x2x40xf32>)
  %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %rows, %do at %first, %key scale 0.5 causal
      : (tensor<1x40x2x16xbf16>, tensor<1x40x2x16xbf16>, tensor<1x40x2x16xbf16>, tensor<1x40x2x16xbf16>, tensor<1x2x40xf32>, tensor<1x40x2x16xbf16>, tensor<i32>, tensor<i32>) -> (tensor<1x40x2x16xbf16>, tensor<1x40x2x16xbf16>, tensor<1x40x2x16xbf16>)
  // Of queries that count no key it is -inf, which is compared as another number.
  %least = arith.constant dense<-100.0> : tensor<1x2x40xf32>
  %lse = arith.maximumf %rows, %least : tensor<1x2x40xf32>
  return %o, %lse, %dq, %dk, %dv : tensor<1x40x2x16xbf16>, tensor<1x2x40xf32>, tensor<1x40x2x16xbf16>, tensor<1x40x2x16xbf16>, tensor<1x40x2x16xbf16>
}
