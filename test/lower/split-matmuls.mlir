// Matmuls of which rows or columns break the rule of 16 bytes are marked with what exceeds it: the gradient of GPT-2's
// embedding, and logits whose rows are padded.  Others are not: those whose contiguous dims are multiples, those
// that sum over such a dim, those with an epilogue, small ones.  Never on a CPU.
// RUN: braid-opt %s --exec-split-matmuls | FileCheck %s
// RUN: braid-opt %s --exec-split-matmuls=least-work=1 | FileCheck %s --check-prefix=SMALL
// RUN: sed 's/"cuda", arch = "sm_90"/"cpu"/' %s | braid-opt --exec-split-matmuls | FileCheck %s --check-prefix=CPU
// CPU-NOT: _apart

// CHECK:      exec.matmul "tv,td->vd"({{.*}}) {exec.rows_apart = 1 : i64}
// CHECK-NEXT: exec.matmul "td,vd->tv"({{.*}}) {exec.columns_apart = 1 : i64}
// CHECK-NEXT: exec.matmul "tv,vd->td"({{.*}}>) : !exec
// CHECK-NEXT: exec.matmul "td,te->de"({{.*}}>) : !exec
// CHECK-NEXT: exec.matmul "td,vd->tv"({{.*}}>) epilogue gelu_tanh : !exec
// CHECK-NEXT: exec.matmul "tv,td->vd"({{.*}}>) : !exec
// SMALL-COUNT-2: _apart
// SMALL:      epilogue gelu_tanh : !exec
// SMALL-NEXT: exec.matmul "tv,td->vd"({{.*}}) {exec.rows_apart = 1 : i64}
module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
exec.program @train arena 26992316416 {
  exec.buffer @dy at 0 bytes 6593445888 live -1 to 6 category activations name "dy" padding 6160384
  exec.buffer @x at 6593445888 bytes 100663296 live -1 to 6 category activations name "x"
  exec.buffer @w at 6694109184 bytes 77194752 live -1 to 6 category activations name "w"
  exec.buffer @dw at 6771303936 bytes 154389504 live 0 to 6 category gradients name "dw"
  exec.buffer @y at 6925693440 bytes 6593445888 live 1 to 6 category activations name "y" padding 6160384
  exec.buffer @dx at 13519139328 bytes 100663296 live 2 to 6 category activations name "dx"
  exec.buffer @square at 13619802624 bytes 2359296 live 3 to 6 category gradients name "square"
  exec.buffer @few at 13622161920 bytes 393216 live -1 to 6 category activations name "few"
  exec.buffer @short at 13622555136 bytes 25755648 live -1 to 6 category activations name "short" padding 24064
  %dy = exec.ref @dy + 0 : !exec.ref<65536x50257xbf16, [50304, 1]>
  %x = exec.ref @x + 0 : !exec.ref<65536x768xbf16, [768, 1]>
  %w = exec.ref @w + 0 : !exec.ref<50257x768xbf16, [768, 1]>
  %dw = exec.ref @dw + 0 : !exec.ref<50257x768xf32, [768, 1]>
  %y = exec.ref @y + 0 : !exec.ref<65536x50257xbf16, [50304, 1]>
  %dx = exec.ref @dx + 0 : !exec.ref<65536x768xbf16, [768, 1]>
  %square = exec.ref @square + 0 : !exec.ref<768x768xf32, [768, 1]>
  %few = exec.ref @few + 0 : !exec.ref<256x768xbf16, [768, 1]>
  %short = exec.ref @short + 0 : !exec.ref<256x50257xbf16, [50304, 1]>
  exec.matmul "tv,td->vd"(%dy, %x) outs(%dw : !exec.ref<50257x768xf32, [768, 1]>) : !exec.ref<65536x50257xbf16, [50304, 1]>, !exec.ref<65536x768xbf16, [768, 1]>
  exec.matmul "td,vd->tv"(%x, %w) outs(%y : !exec.ref<65536x50257xbf16, [50304, 1]>) : !exec.ref<65536x768xbf16, [768, 1]>, !exec.ref<50257x768xbf16, [768, 1]>
  exec.matmul "tv,vd->td"(%dy, %w) outs(%dx : !exec.ref<65536x768xbf16, [768, 1]>) : !exec.ref<65536x50257xbf16, [50304, 1]>, !exec.ref<50257x768xbf16, [768, 1]>
  exec.matmul "td,te->de"(%x, %dx) outs(%square : !exec.ref<768x768xf32, [768, 1]>) : !exec.ref<65536x768xbf16, [768, 1]>, !exec.ref<65536x768xbf16, [768, 1]>
  exec.matmul "td,vd->tv"(%x, %w) outs(%y : !exec.ref<65536x50257xbf16, [50304, 1]>) epilogue gelu_tanh : !exec.ref<65536x768xbf16, [768, 1]>, !exec.ref<50257x768xbf16, [768, 1]>
  exec.matmul "tv,td->vd"(%short, %few) outs(%dw : !exec.ref<50257x768xf32, [768, 1]>) : !exec.ref<256x50257xbf16, [50304, 1]>, !exec.ref<256x768xbf16, [768, 1]>
}
}
