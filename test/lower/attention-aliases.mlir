// The interpreter and the plan's verifier know that a call of attention still reads what it
// is given while it writes.
// RUN: not braid-interp %s 2>&1 | FileCheck %s
// RUN: not braid-opt %s --exec-set-target=name=cuda --exec-verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=PLAN
// CHECK: error: writes out 0 over operand 0, which it still reads
// PLAN: error: 'exec.attention' op writes out 0 over its operand 0 in 'x', which it may not overwrite

exec.program @memory arena 512 {
  exec.buffer @x at 0 bytes 64 live -1 to 1 category inputs name "x" "input" role "x" : tensor<1x2x1x8xbf16>
  exec.buffer @lse at 256 bytes 64 live 0 to 1 category activations name "lse" "result" role "lse" : tensor<1x1x2xf32>
  %x = exec.ref @x + 0 : !exec.ref<1x2x1x8xbf16, [16, 8, 8, 1]>
  %lse = exec.ref @lse + 0 : !exec.ref<1x1x2xf32, [2, 2, 1]>
  exec.attention(%x, %x, %x) outs(%x, %lse : !exec.ref<1x2x1x8xbf16, [16, 8, 8, 1]>, !exec.ref<1x1x2xf32, [2, 2, 1]>) scale 1.0
      : (!exec.ref<1x2x1x8xbf16, [16, 8, 8, 1]>, !exec.ref<1x2x1x8xbf16, [16, 8, 8, 1]>, !exec.ref<1x2x1x8xbf16, [16, 8, 8, 1]>)
}
