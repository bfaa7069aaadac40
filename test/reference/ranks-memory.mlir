// Local programs in memory: each rank has an arena of its own.  Bugs of a plan
// around collectives are planted one by one.
//
// RUN: split-file %s %t
// RUN: braid-interp %t/right.mlir --set x=2 --set w=1 | FileCheck %t/right.mlir
// RUN: not braid-interp %t/operand.mlir 2>&1 | FileCheck %t/operand.mlir
// RUN: not braid-interp %t/early.mlir 2>&1 | FileCheck %t/early.mlir
// RUN: not braid-interp %t/result.mlir 2>&1 | FileCheck %t/result.mlir
// RUN: not braid-interp %t/born.mlir 2>&1 | FileCheck %t/born.mlir
// RUN: not braid-interp %t/operand-born.mlir 2>&1 | FileCheck %t/operand-born.mlir
// RUN: not braid-interp %t/alone.mlir 2>&1 | FileCheck %t/alone.mlir

//--- right.mlir
// x xᵀ on each rank, summed in place while y = x xᵀ is made again elsewhere.  The
// rows of x are logical; so is w, of which a rank holds a flat part.
// CHECK: y: tensor<2x1xf32> = {{\[\[}}8], [8]]
// CHECK-NEXT: all: tensor<3xf32> = [1, 1, 1]
// CHECK-NEXT: updates w: tensor<3xf32> = [1, 1, 1]
comm.mesh @mesh [r = 2]
exec.tensor @w at 64 bytes 8 category parameters : tensor<2xf32> = #tg.param<"w", #tg.init<ones>> {comm.global = tensor<3xf32>, comm.sharding = #comm.sharding<@mesh, {}, flat {r}>}
exec.program @p arena 128 attributes {comm.program = #comm.program<@mesh>} {
  exec.buffer @x at 0 bytes 4 live -1 to 3 category inputs name "x" "input" role "x" : tensor<1x1xf32> {comm.global = tensor<2x1xf32>, comm.sharding = #comm.sharding<@mesh, {r} {}>}
  exec.buffer @y at 16 bytes 4 live 0 to 5 category activations name "y" "result" role "y" : tensor<1x1xf32> {comm.global = tensor<2x1xf32>, comm.sharding = #comm.sharding<@mesh, {r} {}>}
  exec.buffer @z at 32 bytes 4 live 2 to 2 category activations name "z"
  exec.buffer @all at 80 bytes 12 live 4 to 5 category activations name "all" "result" role "all" : tensor<3xf32>
  %x = exec.ref @x + 0 : !exec.ref<1x1xf32, [1, 1]>
  %y = exec.ref @y + 0 : !exec.ref<1x1xf32, [1, 1]>
  %z = exec.ref @z + 0 : !exec.ref<1x1xf32, [1, 1]>
  %w = exec.ref @w + 0 : !exec.ref<2xf32, [1]>
  %all = exec.ref @all + 0 : !exec.ref<3xf32, [1]>
  exec.matmul "mk,nk->mn" (%x, %x) outs(%y : !exec.ref<1x1xf32, [1, 1]>) : !exec.ref<1x1xf32, [1, 1]>, !exec.ref<1x1xf32, [1, 1]>
  %t = comm.start {
    comm.all_reduce sum %y outs(%y : !exec.ref<1x1xf32, [1, 1]>) over @mesh {r} : (!exec.ref<1x1xf32, [1, 1]>) -> ()
  } : !comm.ticket<>
  exec.matmul "mk,nk->mn" (%x, %x) outs(%z : !exec.ref<1x1xf32, [1, 1]>) : !exec.ref<1x1xf32, [1, 1]>, !exec.ref<1x1xf32, [1, 1]>
  comm.wait %t : !comm.ticket<>
  comm.all_gather %w outs(%all : !exec.ref<3xf32, [1]>) dims [flat] over @mesh {r} : (!exec.ref<2xf32, [1]>) -> ()
}

//--- operand.mlir
// CHECK: operand.mlir:[[@LINE+15]]:3: error: writes out 0 over operand 0 of a collective that is not waited for yet
// CHECK: operand.mlir:[[@LINE+12]]:5: note: the collective is here
comm.mesh @mesh [r = 2]
exec.program @p arena 64 attributes {comm.program = #comm.program<@mesh>} {
  exec.buffer @x at 0 bytes 4 live -1 to 2 category inputs name "x" "input" role "x" : tensor<1x1xf32>
  exec.buffer @h at 16 bytes 4 live 0 to 3 category activations name "h"
  exec.buffer @s at 32 bytes 4 live 1 to 4 category activations name "s" "result" role "s" : tensor<1x1xf32>
  %x = exec.ref @x + 0 : !exec.ref<1x1xf32, [1, 1]>
  %h = exec.ref @h + 0 : !exec.ref<1x1xf32, [1, 1]>
  %s = exec.ref @s + 0 : !exec.ref<1x1xf32, [1, 1]>
  exec.matmul "mk,nk->mn" (%x, %x) outs(%h : !exec.ref<1x1xf32, [1, 1]>) : !exec.ref<1x1xf32, [1, 1]>, !exec.ref<1x1xf32, [1, 1]>
  %t = comm.start {

    comm.all_reduce sum %h outs(%s : !exec.ref<1x1xf32, [1, 1]>) over @mesh {r} : (!exec.ref<1x1xf32, [1, 1]>) -> ()
  } : !comm.ticket<>
  exec.matmul "mk,nk->mn" (%x, %x) outs(%h : !exec.ref<1x1xf32, [1, 1]>) : !exec.ref<1x1xf32, [1, 1]>, !exec.ref<1x1xf32, [1, 1]>
  comm.wait %t : !comm.ticket<>
}

//--- early.mlir
// CHECK: error: reads element [0, 0] of 's' at byte 32 of the arena, which was given to a collective that is not waited for yet
comm.mesh @mesh [r = 2]
exec.program @p arena 64 attributes {comm.program = #comm.program<@mesh>} {
  exec.buffer @x at 0 bytes 4 live -1 to 2 category inputs name "x" "input" role "x" : tensor<1x1xf32>
  exec.buffer @h at 16 bytes 4 live 0 to 3 category activations name "h"
  exec.buffer @s at 32 bytes 4 live 0 to 3 category activations name "s" "result" role "s" : tensor<1x1xf32>
  %x = exec.ref @x + 0 : !exec.ref<1x1xf32, [1, 1]>
  %h = exec.ref @h + 0 : !exec.ref<1x1xf32, [1, 1]>
  %s = exec.ref @s + 0 : !exec.ref<1x1xf32, [1, 1]>
  %t = comm.start {
    comm.all_reduce sum %x outs(%s : !exec.ref<1x1xf32, [1, 1]>) over @mesh {r} : (!exec.ref<1x1xf32, [1, 1]>) -> ()
  } : !comm.ticket<>
  exec.matmul "mk,nk->mn" (%s, %x) outs(%h : !exec.ref<1x1xf32, [1, 1]>) : !exec.ref<1x1xf32, [1, 1]>, !exec.ref<1x1xf32, [1, 1]>
  comm.wait %t : !comm.ticket<>
}

//--- result.mlir
// CHECK: error: ends a collective whose out 0, in 's', was written through 's' since its start
// CHECK: note: the collective is here
comm.mesh @mesh [r = 2]
exec.program @p arena 64 attributes {comm.program = #comm.program<@mesh>} {
  exec.buffer @x at 0 bytes 4 live -1 to 2 category inputs name "x" "input" role "x" : tensor<1x1xf32>
  exec.buffer @s at 32 bytes 4 live 0 to 3 category activations name "s" "result" role "s" : tensor<1x1xf32>
  %x = exec.ref @x + 0 : !exec.ref<1x1xf32, [1, 1]>
  %s = exec.ref @s + 0 : !exec.ref<1x1xf32, [1, 1]>
  %t = comm.start {
    comm.all_reduce sum %x outs(%s : !exec.ref<1x1xf32, [1, 1]>) over @mesh {r} : (!exec.ref<1x1xf32, [1, 1]>) -> ()
  } : !comm.ticket<>
  exec.matmul "mk,nk->mn" (%x, %x) outs(%s : !exec.ref<1x1xf32, [1, 1]>) : !exec.ref<1x1xf32, [1, 1]>, !exec.ref<1x1xf32, [1, 1]>
  comm.wait %t : !comm.ticket<>
}

//--- born.mlir
// The scratch memory of a call lies over the result that is under way.
// CHECK: error: ends a collective whose out 0, in 's', was given to another buffer since its start
comm.mesh @mesh [r = 2]
exec.program @p arena 64 attributes {comm.program = #comm.program<@mesh>} {
  exec.buffer @x at 0 bytes 4 live -1 to 2 category inputs name "x" "input" role "x" : tensor<1x1xf32>
  exec.buffer @h at 16 bytes 4 live 0 to 3 category activations name "h"
  exec.buffer @s at 32 bytes 4 live 0 to 3 category activations name "s" "result" role "s" : tensor<1x1xf32>
  exec.buffer @ws at 32 bytes 16 live 1 to 1 category workspace name "workspace" scratch
  %x = exec.ref @x + 0 : !exec.ref<1x1xf32, [1, 1]>
  %h = exec.ref @h + 0 : !exec.ref<1x1xf32, [1, 1]>
  %s = exec.ref @s + 0 : !exec.ref<1x1xf32, [1, 1]>
  %t = comm.start {
    comm.all_reduce sum %x outs(%s : !exec.ref<1x1xf32, [1, 1]>) over @mesh {r} : (!exec.ref<1x1xf32, [1, 1]>) -> ()
  } : !comm.ticket<>
  exec.matmul "mk,nk->mn" (%x, %x) outs(%h : !exec.ref<1x1xf32, [1, 1]>) : !exec.ref<1x1xf32, [1, 1]>, !exec.ref<1x1xf32, [1, 1]>
  comm.wait %t : !comm.ticket<>
}

//--- operand-born.mlir
// The operand's buffer is planned to die at the start.
// CHECK: error: reads element [0, 0] of 'h' at byte 16 of the arena, which was never written
comm.mesh @mesh [r = 2]
exec.program @p arena 64 attributes {comm.program = #comm.program<@mesh>} {
  exec.buffer @x at 0 bytes 4 live -1 to 2 category inputs name "x" "input" role "x" : tensor<1x1xf32>
  exec.buffer @h at 16 bytes 4 live 0 to 1 category activations name "h"
  exec.buffer @s at 32 bytes 4 live 0 to 4 category activations name "s" "result" role "s" : tensor<1x1xf32>
  %x = exec.ref @x + 0 : !exec.ref<1x1xf32, [1, 1]>
  %h = exec.ref @h + 0 : !exec.ref<1x1xf32, [1, 1]>
  %s = exec.ref @s + 0 : !exec.ref<1x1xf32, [1, 1]>
  exec.matmul "mk,nk->mn" (%x, %x) outs(%h : !exec.ref<1x1xf32, [1, 1]>) : !exec.ref<1x1xf32, [1, 1]>, !exec.ref<1x1xf32, [1, 1]>
  %t = comm.start {
    comm.all_reduce sum %h outs(%s : !exec.ref<1x1xf32, [1, 1]>) over @mesh {r} : (!exec.ref<1x1xf32, [1, 1]>) -> ()
  } : !comm.ticket<>
  comm.wait %t : !comm.ticket<>
}

//--- alone.mlir
// CHECK: error: 'comm.barrier' is in a program without 'comm.program', which has no ranks
comm.mesh @mesh [r = 2]
exec.program @p arena 64 {
  comm.barrier over @mesh {r} : () -> ()
}
