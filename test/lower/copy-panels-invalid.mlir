// RUN: braid-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{'exec.panels' is a unit attribute on an exec.matmul, found}}
module attributes {exec.panels} {
}

// -----

exec.program @p arena 192 {
  exec.buffer @x at 0 bytes 8 live 0 to 1 category activations name "x" "input" role "x" : tensor<2x2xbf16>
  exec.buffer @y at 64 bytes 8 live 1 to 2 category activations name "y" "result" role "y" : tensor<2x2xbf16>
  %x = exec.ref @x + 0 : !exec.ref<2x2xbf16, [2, 1]>
  %y = exec.ref @y + 0 : !exec.ref<2x2xbf16, [2, 1]>
  // expected-error@+1 {{'exec.panels' is a unit attribute on an exec.matmul, found true}}
  exec.matmul "mk,nk->mn"(%x, %x) outs(%y : !exec.ref<2x2xbf16, [2, 1]>) {exec.panels = true} : !exec.ref<2x2xbf16, [2, 1]>, !exec.ref<2x2xbf16, [2, 1]>
}
