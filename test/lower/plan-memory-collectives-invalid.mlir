// Plans that break the rules of collectives, and of what a rank does alone.
// RUN: braid-opt %s --exec-plan-memory --exec-verify-plan --split-input-file --verify-diagnostics

// A block may not be written over the whole.
comm.mesh @mesh [dp = 2]
exec.program @slice_in_place arena 64 {
  exec.buffer @x at 0 bytes 32 live -1 to 1 category inputs name "x" "input" role "" : tensor<8xf32>
  %x = exec.ref @x + 0 : <8xf32, [1]>
  %half = exec.ref @x + 0 : <4xf32, [1]>
  // expected-error @below {{writes out 0 over its operand 0 in 'x', which it may not overwrite}}
  comm.slice %x outs(%half : !exec.ref<4xf32, [1]>) dim 0 over @mesh {dp} : !exec.ref<8xf32, [1]>
}

// -----

comm.mesh @mesh [dp = 2]
exec.program @slice_flat_strided arena 192 {
  exec.buffer @x at 0 bytes 64 live -1 to 0 category inputs name "x" "input" role "" : tensor<4x4xf32>
  exec.buffer @y at 64 bytes 16 live 0 to 1 category activations name "y" "result" role "y" : tensor<4xf32>
  %x = exec.ref @x + 0 : <4x2xf32, [4, 1]>
  %y = exec.ref @y + 0 : <4xf32, [1]>
  // expected-error @below {{reads operand 0 as '!exec.ref<4x2xf32, [4, 1]>', but needs contiguous memory}}
  comm.slice %x outs(%y : !exec.ref<4xf32, [1]>) dim flat over @mesh {dp} : !exec.ref<4x2xf32, [4, 1]>
}

// -----

comm.mesh @mesh [dp = 2]
// expected-note @below {{the other program names it here}}
func.func @train(%w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>, comm.sharding = #comm.sharding<@mesh, {dp}>, comm.global = tensor<8xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  return
}
// expected-error @below {{has 'w' as a whole, but another program has it as the part {comm.global = tensor<8xf32>, comm.sharding = #comm.sharding<@mesh, {dp}>}}}
func.func @eval(%w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>}) attributes {comm.program = #comm.program<@mesh>} {
  return
}

// -----

comm.mesh @mesh [dp = 2]
exec.program @strided arena 192 {
  exec.buffer @x at 0 bytes 64 live -1 to 0 category inputs name "x" "input" role "" : tensor<4x4xf32>
  exec.buffer @y at 64 bytes 32 live 0 to 1 category activations name "y" "result" role "y" : tensor<4x2xf32>
  %x = exec.ref @x + 0 : <4x2xf32, [4, 1]>
  %y = exec.ref @y + 0 : <4x2xf32, [2, 1]>
  // expected-error @below {{reads operand 0 as '!exec.ref<4x2xf32, [4, 1]>', but needs contiguous memory}}
  comm.all_reduce sum %x outs(%y : !exec.ref<4x2xf32, [2, 1]>) over @mesh {dp} : (!exec.ref<4x2xf32, [4, 1]>) -> ()
}

// -----

comm.mesh @mesh [dp = 2]
exec.program @strided_out arena 192 {
  exec.buffer @x at 0 bytes 32 live -1 to 0 category inputs name "x" "input" role "" : tensor<4x2xf32>
  exec.buffer @y at 64 bytes 64 live 0 to 1 category activations name "y" "result" role "y" : tensor<4x4xf32>
  %x = exec.ref @x + 0 : <4x2xf32, [2, 1]>
  %y = exec.ref @y + 0 : <4x2xf32, [4, 1]>
  // expected-error @below {{writes out 0 as '!exec.ref<4x2xf32, [4, 1]>', but needs contiguous memory}}
  comm.all_reduce sum %x outs(%y : !exec.ref<4x2xf32, [4, 1]>) over @mesh {dp} : (!exec.ref<4x2xf32, [2, 1]>) -> ()
}

// -----

// A gather may not write over what it sends.
comm.mesh @mesh [dp = 2]
exec.program @in_place arena 64 {
  exec.buffer @y at 0 bytes 32 live -1 to 1 category inputs name "y" "input" role "" : tensor<8xf32>
  %half = exec.ref @y + 0 : <4xf32, [1]>
  %y = exec.ref @y + 0 : <8xf32, [1]>
  // expected-error @below {{writes out 0 over its operand 0 in 'y', which it may not overwrite}}
  comm.all_gather %half outs(%y : !exec.ref<8xf32, [1]>) dims [0] over @mesh {dp} : (!exec.ref<4xf32, [1]>) -> ()
}

// -----

// The operand is overwritten before the wait.
comm.mesh @mesh [dp = 2]
exec.program @operand_written arena 320 {
  exec.buffer @x at 0 bytes 64 live -1 to 2 category inputs name "x" "input" role "" : tensor<4x4xf32>
  exec.buffer @z at 64 bytes 64 live -1 to 1 category inputs name "z" "input" role "" : tensor<4x4xf32>
  exec.buffer @y at 128 bytes 64 live 0 to 3 category activations name "y" "result" role "y" : tensor<4x4xf32>
  %x = exec.ref @x + 0 : <4x4xf32, [4, 1]>
  %y = exec.ref @y + 0 : <4x4xf32, [4, 1]>
  %z = exec.ref @z + 0 : <4x4xf32, [4, 1]>
  // expected-note @below {{started here}}
  %t = comm.start {
    comm.all_reduce sum %x outs(%y : !exec.ref<4x4xf32, [4, 1]>) over @mesh {dp} : (!exec.ref<4x4xf32, [4, 1]>) -> ()
  } : !comm.ticket<>
  // expected-error @below {{writes 'x', which all_reduce reads until its wait}}
  exec.matmul "ij,jk->ik"(%z, %z) outs(%x : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
  comm.wait %t : !comm.ticket<>
}

// -----

// The result is read before the wait.
comm.mesh @mesh [dp = 2]
exec.program @result_read arena 320 {
  exec.buffer @x at 0 bytes 64 live -1 to 2 category inputs name "x" "input" role "" : tensor<4x4xf32>
  exec.buffer @a at 64 bytes 64 live 0 to 2 category activations name "a"
  exec.buffer @y at 128 bytes 64 live 1 to 3 category activations name "y" "result" role "y" : tensor<4x4xf32>
  %x = exec.ref @x + 0 : <4x4xf32, [4, 1]>
  %a = exec.ref @a + 0 : <4x4xf32, [4, 1]>
  %y = exec.ref @y + 0 : <4x4xf32, [4, 1]>
  // expected-note @below {{started here}}
  %t = comm.start {
    comm.all_reduce sum %x outs(%a : !exec.ref<4x4xf32, [4, 1]>) over @mesh {dp} : (!exec.ref<4x4xf32, [4, 1]>) -> ()
  } : !comm.ticket<>
  // expected-error @below {{reads 'a', which all_reduce writes until its wait}}
  exec.matmul "ij,jk->ik"(%x, %a) outs(%y : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
  comm.wait %t : !comm.ticket<>
}

// -----

// Two collectives under way write the same bytes.
comm.mesh @mesh [dp = 2]
exec.program @result_written arena 320 {
  exec.buffer @x at 0 bytes 64 live -1 to 3 category inputs name "x" "input" role "" : tensor<4x4xf32>
  exec.buffer @y at 64 bytes 64 live 0 to 4 category activations name "y" "result" role "y" : tensor<4x4xf32>
  %x = exec.ref @x + 0 : <4x4xf32, [4, 1]>
  %y = exec.ref @y + 0 : <4x4xf32, [4, 1]>
  // expected-note @below {{started here}}
  %t = comm.start {
    comm.all_reduce sum %x outs(%y : !exec.ref<4x4xf32, [4, 1]>) over @mesh {dp} : (!exec.ref<4x4xf32, [4, 1]>) -> ()
  } : !comm.ticket<>
  // expected-error @below {{writes 'y', which all_reduce writes until its wait}}
  %u = comm.start {
    comm.all_reduce max %x outs(%y : !exec.ref<4x4xf32, [4, 1]>) over @mesh {dp} : (!exec.ref<4x4xf32, [4, 1]>) -> ()
  } : !comm.ticket<>
  comm.wait %t : !comm.ticket<>
  comm.wait %u : !comm.ticket<>
}

// -----

// The result's memory is a stranger's until after the start.
comm.mesh @mesh [dp = 2]
exec.program @result_overlaps arena 320 {
  exec.buffer @x at 0 bytes 64 live -1 to 2 category inputs name "x" "input" role "" : tensor<4x4xf32>
  // expected-note @below {{the other range}}
  exec.buffer @z at 64 bytes 64 live -1 to 1 category inputs name "z" "input" role "" : tensor<4x4xf32>
  // expected-error @below {{'a' at 64 to 128 overlaps 'z' at 64 to 128 while both are live}}
  exec.buffer @a at 64 bytes 64 live 0 to 3 category activations name "a" "result" role "a" : tensor<4x4xf32>
  exec.buffer @y at 128 bytes 64 live 1 to 3 category activations name "y" "result" role "y" : tensor<4x4xf32>
  %x = exec.ref @x + 0 : <4x4xf32, [4, 1]>
  %z = exec.ref @z + 0 : <4x4xf32, [4, 1]>
  %a = exec.ref @a + 0 : <4x4xf32, [4, 1]>
  %y = exec.ref @y + 0 : <4x4xf32, [4, 1]>
  %t = comm.start {
    comm.all_reduce sum %x outs(%a : !exec.ref<4x4xf32, [4, 1]>) over @mesh {dp} : (!exec.ref<4x4xf32, [4, 1]>) -> ()
  } : !comm.ticket<>
  exec.matmul "ij,jk->ik"(%z, %z) outs(%y : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
  comm.wait %t : !comm.ticket<>
}

// -----

// The same lie told by a life that begins too late.
comm.mesh @mesh [dp = 2]
exec.program @result_late arena 320 {
  exec.buffer @x at 0 bytes 64 live -1 to 2 category inputs name "x" "input" role "" : tensor<4x4xf32>
  exec.buffer @z at 64 bytes 64 live -1 to 1 category inputs name "z" "input" role "" : tensor<4x4xf32>
  // expected-note @below {{declared here}}
  exec.buffer @a at 64 bytes 64 live 2 to 3 category activations name "a" "result" role "a" : tensor<4x4xf32>
  %x = exec.ref @x + 0 : <4x4xf32, [4, 1]>
  %a = exec.ref @a + 0 : <4x4xf32, [4, 1]>
  // expected-error @below {{is action 0 but uses 'a', which lives from 2 to 3}}
  %t = comm.start {
    comm.all_reduce sum %x outs(%a : !exec.ref<4x4xf32, [4, 1]>) over @mesh {dp} : (!exec.ref<4x4xf32, [4, 1]>) -> ()
  } : !comm.ticket<>
  comm.wait %t : !comm.ticket<>
  comm.barrier over @mesh {dp} : () -> ()
}

// -----

// The operand's life ends before the wait.
comm.mesh @mesh [dp = 2]
exec.program @operand_dies arena 320 {
  // expected-note @below {{declared here}}
  exec.buffer @x at 0 bytes 64 live -1 to 0 category inputs name "x" "input" role "" : tensor<4x4xf32>
  exec.buffer @a at 64 bytes 64 live 0 to 2 category activations name "a" "result" role "a" : tensor<4x4xf32>
  %x = exec.ref @x + 0 : <4x4xf32, [4, 1]>
  %a = exec.ref @a + 0 : <4x4xf32, [4, 1]>
  %t = comm.start {
    comm.all_reduce sum %x outs(%a : !exec.ref<4x4xf32, [4, 1]>) over @mesh {dp} : (!exec.ref<4x4xf32, [4, 1]>) -> ()
  } : !comm.ticket<>
  // expected-error @below {{is action 1 but uses 'x', which lives from -1 to 0}}
  comm.wait %t : !comm.ticket<>
}
