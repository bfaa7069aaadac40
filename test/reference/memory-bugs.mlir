// Bugs of a memory plan, planted one by one: the interpreter names the op, the
// buffer and the place.
//
// RUN: split-file %s %t
// RUN: braid-interp %t/right.mlir --set x=3 | FileCheck %s --check-prefix=RIGHT
// RUN: not braid-interp %t/never-written.mlir 2>&1 | FileCheck %s --check-prefix=NEVER
// RUN: not braid-interp %t/overlap.mlir 2>&1 | FileCheck %s --check-prefix=OVERLAP
// RUN: not braid-interp %t/overwritten.mlir 2>&1 | FileCheck %s --check-prefix=OVERWRITTEN
// RUN: not braid-interp %t/dead.mlir 2>&1 | FileCheck %s --check-prefix=DEAD
// RUN: not braid-interp %t/partly.mlir 2>&1 | FileCheck %s --check-prefix=PARTLY
// RUN: not braid-interp %t/shifted.mlir 2>&1 | FileCheck %s --check-prefix=SHIFTED
// RUN: not braid-interp %t/outside-arena.mlir 2>&1 | FileCheck %s --check-prefix=ARENA
// RUN: not braid-interp %t/workspace.mlir 2>&1 | FileCheck %s --check-prefix=WORKSPACE
// RUN: not braid-interp %t/persistent.mlir 2>&1 | FileCheck %s --check-prefix=PERSISTENT
// RUN: not braid-interp %t/result.mlir 2>&1 | FileCheck %s --check-prefix=RESULT

// Without a bug: y = (x xᵀ) xᵀ.
// RIGHT: y: tensor<2x2xf32> = {{\[\[}}108, 108], [108, 108]]

//--- right.mlir
exec.program @p arena 128 {
  exec.buffer @x at 0 bytes 16 live -1 to 1 category inputs name "x" "input" role "x" : tensor<2x2xf32>
  exec.buffer @h at 16 bytes 16 live 0 to 1 category activations name "h"
  exec.buffer @y at 32 bytes 16 live 1 to 2 category activations name "y" "result" role "y" : tensor<2x2xf32>
  exec.buffer @ws at 64 bytes 64 live 0 to 1 category workspace name "workspace" scratch
  %x = exec.ref @x + 0 : !exec.ref<2x2xf32, [2, 1]>
  %h = exec.ref @h + 0 : !exec.ref<2x2xf32, [2, 1]>
  %y = exec.ref @y + 0 : !exec.ref<2x2xf32, [2, 1]>
  exec.matmul "mk,nk->mn" (%x, %x) outs(%h : !exec.ref<2x2xf32, [2, 1]>) : !exec.ref<2x2xf32, [2, 1]>, !exec.ref<2x2xf32, [2, 1]>
  exec.matmul "mk,nk->mn" (%h, %x) outs(%y : !exec.ref<2x2xf32, [2, 1]>) : !exec.ref<2x2xf32, [2, 1]>, !exec.ref<2x2xf32, [2, 1]>
}

//--- never-written.mlir
// NEVER: never-written.mlir:7:3: error: reads element [0, 0] of 'h' at byte 16 of the arena, which was never written
exec.program @p arena 48 {
  exec.buffer @h at 16 bytes 16 live 0 to 0 category activations name "h"
  exec.buffer @y at 32 bytes 16 live 0 to 1 category activations name "y" "result" role "y" : tensor<2x2xf32>
  %h = exec.ref @h + 0 : !exec.ref<2x2xf32, [2, 1]>
  %y = exec.ref @y + 0 : !exec.ref<2x2xf32, [2, 1]>
  exec.matmul "mk,nk->mn" (%h, %h) outs(%y : !exec.ref<2x2xf32, [2, 1]>) : !exec.ref<2x2xf32, [2, 1]>, !exec.ref<2x2xf32, [2, 1]>
}

//--- overlap.mlir
// @h and @y share bytes while both live: @y's birth poisons @h.
// OVERLAP: error: reads element [1, 0] of 'h' at byte 24 of the arena, which was never written
exec.program @p arena 48 {
  exec.buffer @x at 0 bytes 16 live -1 to 1 category inputs name "x" "input" role "x" : tensor<2x2xf32>
  exec.buffer @h at 16 bytes 16 live 0 to 1 category activations name "h"
  exec.buffer @y at 24 bytes 16 live 1 to 2 category activations name "y" "result" role "y" : tensor<2x2xf32>
  %x = exec.ref @x + 0 : !exec.ref<2x2xf32, [2, 1]>
  %h = exec.ref @h + 0 : !exec.ref<2x2xf32, [2, 1]>
  %y = exec.ref @y + 0 : !exec.ref<2x2xf32, [2, 1]>
  exec.matmul "mk,nk->mn" (%x, %x) outs(%h : !exec.ref<2x2xf32, [2, 1]>) : !exec.ref<2x2xf32, [2, 1]>, !exec.ref<2x2xf32, [2, 1]>
  exec.matmul "mk,nk->mn" (%h, %x) outs(%y : !exec.ref<2x2xf32, [2, 1]>) : !exec.ref<2x2xf32, [2, 1]>, !exec.ref<2x2xf32, [2, 1]>
}

//--- overwritten.mlir
// The bytes of @h were written, but since then by another buffer.
// OVERWRITTEN: error: reads element [0, 0] of 'h' at byte 16 of the arena, which was overwritten through 'g'
exec.program @p arena 48 {
  exec.buffer @x at 0 bytes 16 live -1 to 2 category inputs name "x" "input" role "x" : tensor<2x2xf32>
  exec.buffer @h at 16 bytes 16 live 0 to 2 category activations name "h"
  exec.buffer @g at 16 bytes 16 live 1 to 2 category activations name "g"
  exec.buffer @y at 32 bytes 16 live 2 to 3 category activations name "y" "result" role "y" : tensor<2x2xf32>
  %x = exec.ref @x + 0 : !exec.ref<2x2xf32, [2, 1]>
  %h = exec.ref @h + 0 : !exec.ref<2x2xf32, [2, 1]>
  %g = exec.ref @g + 0 : !exec.ref<2x2xf32, [2, 1]>
  %y = exec.ref @y + 0 : !exec.ref<2x2xf32, [2, 1]>
  exec.matmul "mk,nk->mn" (%x, %x) outs(%h : !exec.ref<2x2xf32, [2, 1]>) : !exec.ref<2x2xf32, [2, 1]>, !exec.ref<2x2xf32, [2, 1]>
  exec.matmul "mk,nk->mn" (%x, %x) outs(%g : !exec.ref<2x2xf32, [2, 1]>) : !exec.ref<2x2xf32, [2, 1]>, !exec.ref<2x2xf32, [2, 1]>
  exec.matmul "mk,nk->mn" (%h, %g) outs(%y : !exec.ref<2x2xf32, [2, 1]>) : !exec.ref<2x2xf32, [2, 1]>, !exec.ref<2x2xf32, [2, 1]>
}

//--- dead.mlir
// DEAD: error: is action 1 and uses buffer 'h', which is live from 0 to 0
exec.program @p arena 48 {
  exec.buffer @x at 0 bytes 16 live -1 to 1 category inputs name "x" "input" role "x" : tensor<2x2xf32>
  exec.buffer @h at 16 bytes 16 live 0 to 0 category activations name "h"
  exec.buffer @y at 32 bytes 16 live 1 to 2 category activations name "y" "result" role "y" : tensor<2x2xf32>
  %x = exec.ref @x + 0 : !exec.ref<2x2xf32, [2, 1]>
  %h = exec.ref @h + 0 : !exec.ref<2x2xf32, [2, 1]>
  %y = exec.ref @y + 0 : !exec.ref<2x2xf32, [2, 1]>
  exec.matmul "mk,nk->mn" (%x, %x) outs(%h : !exec.ref<2x2xf32, [2, 1]>) : !exec.ref<2x2xf32, [2, 1]>, !exec.ref<2x2xf32, [2, 1]>
  exec.matmul "mk,nk->mn" (%h, %x) outs(%y : !exec.ref<2x2xf32, [2, 1]>) : !exec.ref<2x2xf32, [2, 1]>, !exec.ref<2x2xf32, [2, 1]>
}

//--- partly.mlir
// The action writes every other column; the next reads all.
// PARTLY: error: reads element [0, 1] of 'h' at byte 36 of the arena, which was never written
exec.program @p arena 96 {
  exec.buffer @x at 0 bytes 16 live -1 to 1 category inputs name "x" "input" role "x" : tensor<2x2xf32>
  exec.buffer @h at 32 bytes 32 live 0 to 1 category activations name "h"
  exec.buffer @y at 64 bytes 16 live 1 to 2 category activations name "y" "result" role "y" : tensor<2x2xf32>
  %x = exec.ref @x + 0 : !exec.ref<2x2xf32, [2, 1]>
  %h0 = exec.ref @h + 0 : !exec.ref<2x2xf32, [4, 2]>
  %h = exec.ref @h + 0 : !exec.ref<2x2xf32, [4, 1]>
  %y = exec.ref @y + 0 : !exec.ref<2x2xf32, [2, 1]>
  exec.matmul "mk,nk->mn" (%x, %x) outs(%h0 : !exec.ref<2x2xf32, [4, 2]>) : !exec.ref<2x2xf32, [2, 1]>, !exec.ref<2x2xf32, [2, 1]>
  exec.matmul "mk,nk->mn" (%h, %x) outs(%y : !exec.ref<2x2xf32, [2, 1]>) : !exec.ref<2x2xf32, [4, 1]>, !exec.ref<2x2xf32, [2, 1]>
}

//--- shifted.mlir
// The result lies over half of an operand.
// SHIFTED: error: writes out 0 over operand 0, which it still reads
exec.program @p arena 48 {
  exec.buffer @x at 0 bytes 24 live -1 to 1 category inputs name "x" "input" role "x" : tensor<3x2xf32>
  %x = exec.ref @x + 0 : !exec.ref<2x2xf32, [2, 1]>
  %y = exec.ref @x + 8 : !exec.ref<2x2xf32, [2, 1]>
  exec.matmul "mk,nk->mn" (%x, %x) outs(%y : !exec.ref<2x2xf32, [2, 1]>) : !exec.ref<2x2xf32, [2, 1]>, !exec.ref<2x2xf32, [2, 1]>
}

//--- outside-arena.mlir
// ARENA: error: 'x' covers bytes 40 to 56 of an arena of 48
exec.program @p arena 48 {
  exec.buffer @x at 40 bytes 16 live -1 to 1 category inputs name "x" "input" role "x" : tensor<2x2xf32>
}

//--- workspace.mlir
// WORKSPACE: error: reads element [0, 0] of 'x' at byte 0 of the arena, which was never written
exec.program @p arena 80 {
  exec.buffer @ws at 0 bytes 64 live 0 to 0 category workspace name "workspace" scratch
  exec.buffer @x at 0 bytes 16 live -1 to 0 category inputs name "x" "input" role "x" : tensor<2x2xf32>
  exec.buffer @y at 64 bytes 16 live 0 to 1 category activations name "y" "result" role "y" : tensor<2x2xf32>
  %x = exec.ref @x + 0 : !exec.ref<2x2xf32, [2, 1]>
  %y = exec.ref @y + 0 : !exec.ref<2x2xf32, [2, 1]>
  exec.matmul "mk,nk->mn" (%x, %x) outs(%y : !exec.ref<2x2xf32, [2, 1]>) : !exec.ref<2x2xf32, [2, 1]>, !exec.ref<2x2xf32, [2, 1]>
}

//--- persistent.mlir
// A transient buffer over a parameter: at the end the parameter is gone.
// PERSISTENT: persistent.mlir:3:1: error: reads element [0, 0] of 'w' at byte 0 of the arena, which was never written
exec.tensor @w at 0 bytes 16 category parameters : tensor<2x2xf32> = #tg.param<"w", #tg.init<ones>>
exec.program @p arena 48 {
  exec.buffer @h at 0 bytes 16 live 0 to 0 category activations name "h"
  exec.buffer @x at 16 bytes 16 live -1 to 0 category inputs name "x" "input" role "x" : tensor<2x2xf32>
  %x = exec.ref @x + 0 : !exec.ref<2x2xf32, [2, 1]>
  %h = exec.ref @h + 0 : !exec.ref<2x2xf32, [2, 1]>
  exec.matmul "mk,nk->mn" (%x, %x) outs(%h : !exec.ref<2x2xf32, [2, 1]>) : !exec.ref<2x2xf32, [2, 1]>, !exec.ref<2x2xf32, [2, 1]>
}

//--- result.mlir
// RESULT: error: reads element [0] of 'y' at byte 0 of the arena, which was never written
exec.program @p arena 48 {
  exec.buffer @y at 0 bytes 16 live 0 to 0 category activations name "y" "result" role "y" : tensor<4xf32>
}
