// From start to wait nobody writes what a collective sends or touches what it
// receives, in memory.
// RUN: braid-opt %s --exec-verify-plan --split-input-file --verify-diagnostics

// What is right: other bytes of the same buffer, reads of what is sent, the same
// bytes after the wait, and a second collective beside the first.
comm.mesh @mesh [dp = 2]
exec.tensor @w at 0 bytes 64 category parameters : tensor<4x4xf32> = #tg.param<"w", #tg.init<zeros>>
exec.program @train arena 256 attributes {comm.program = #comm.program<@mesh>} {
  exec.buffer @a at 64 bytes 64 live -1 to 6 category inputs name "a" "input" role "" : tensor<4x4xf32>
  exec.buffer @b at 128 bytes 128 live 0 to 6 category activations name "b"
  %w = exec.ref @w + 0 : !exec.ref<4x4xf32, [4, 1]>
  %a = exec.ref @a + 0 : !exec.ref<4x4xf32, [4, 1]>
  %left = exec.ref @b + 0 : !exec.ref<4x4xf32, [4, 1]>
  %right = exec.ref @b + 64 : !exec.ref<4x4xf32, [4, 1]>
  %t0 = comm.start {
    comm.all_reduce sum %a outs(%left : !exec.ref<4x4xf32, [4, 1]>) over @mesh {dp} : (!exec.ref<4x4xf32, [4, 1]>) -> ()
  } : !comm.ticket<>
  exec.matmul "ij,jk->ik"(%a, %w) outs(%right : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
  %t1 = comm.start {
    comm.all_reduce sum %right outs(%right : !exec.ref<4x4xf32, [4, 1]>) over @mesh {dp} : (!exec.ref<4x4xf32, [4, 1]>) -> ()
  } : !comm.ticket<>
  comm.wait %t0 : !comm.ticket<>
  exec.matmul "ij,jk->ik"(%left, %w) outs(%a : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
  comm.wait %t1 : !comm.ticket<>
}

// -----

comm.mesh @mesh [dp = 2]
exec.program @writes_sent arena 192 attributes {comm.program = #comm.program<@mesh>} {
  exec.buffer @a at 0 bytes 64 live -1 to 3 category inputs name "a" "input" role "" : tensor<4x4xf32>
  exec.buffer @b at 64 bytes 64 live 0 to 3 category activations name "b"
  exec.buffer @c at 128 bytes 64 live -1 to 3 category inputs name "c" "input" role "" : tensor<4x4xf32>
  %a = exec.ref @a + 0 : !exec.ref<4x4xf32, [4, 1]>
  %row = exec.ref @a + 32 : !exec.ref<1x4xf32, [4, 1]>
  %b = exec.ref @b + 0 : !exec.ref<4x4xf32, [4, 1]>
  %c = exec.ref @c + 0 : !exec.ref<4x4xf32, [4, 1]>
  %x = exec.ref @c + 0 : !exec.ref<1x4xf32, [4, 1]>
  // expected-note @below {{started here}}
  %t = comm.start {
    comm.all_reduce sum %a outs(%b : !exec.ref<4x4xf32, [4, 1]>) over @mesh {dp} : (!exec.ref<4x4xf32, [4, 1]>) -> ()
  } : !comm.ticket<>
  // expected-error @below {{'exec.matmul' op writes 'a', which all_reduce reads until its wait}}
  exec.matmul "ij,jk->ik"(%x, %c) outs(%row : !exec.ref<1x4xf32, [4, 1]>) : !exec.ref<1x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
  comm.wait %t : !comm.ticket<>
}

// -----

comm.mesh @mesh [dp = 2]
exec.program @reads_received arena 192 attributes {comm.program = #comm.program<@mesh>} {
  exec.buffer @a at 0 bytes 64 live -1 to 3 category inputs name "a" "input" role "" : tensor<4x4xf32>
  exec.buffer @b at 64 bytes 64 live -1 to 3 category activations name "b"
  exec.buffer @c at 128 bytes 64 live 0 to 3 category activations name "c"
  %a = exec.ref @a + 0 : !exec.ref<4x4xf32, [4, 1]>
  %b = exec.ref @b + 0 : !exec.ref<4x4xf32, [4, 1]>
  %c = exec.ref @c + 0 : !exec.ref<4x4xf32, [4, 1]>
  // expected-note @below {{started here}}
  %t = comm.start {
    comm.all_reduce sum %a outs(%b : !exec.ref<4x4xf32, [4, 1]>) over @mesh {dp} : (!exec.ref<4x4xf32, [4, 1]>) -> ()
  } : !comm.ticket<>
  // expected-error @below {{reads 'b', which all_reduce writes until its wait}}
  exec.matmul "ij,jk->ik"(%a, %b) outs(%c : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
  comm.wait %t : !comm.ticket<>
}

// -----

// By a second collective.
comm.mesh @mesh [dp = 2]
exec.program @writes_received arena 192 attributes {comm.program = #comm.program<@mesh>} {
  exec.buffer @a at 0 bytes 64 live -1 to 4 category inputs name "a" "input" role "" : tensor<4x4xf32>
  exec.buffer @b at 64 bytes 64 live 0 to 4 category activations name "b"
  %a = exec.ref @a + 0 : !exec.ref<4x4xf32, [4, 1]>
  %b = exec.ref @b + 0 : !exec.ref<4x4xf32, [4, 1]>
  %c = exec.ref @b + 0 : !exec.ref<4x4xf32, [4, 1]>
  // expected-note @below {{started here}}
  %t0 = comm.start {
    comm.all_reduce sum %a outs(%b : !exec.ref<4x4xf32, [4, 1]>) over @mesh {dp} : (!exec.ref<4x4xf32, [4, 1]>) -> ()
  } : !comm.ticket<>
  // expected-error @below {{'comm.start' op writes 'b', which all_reduce writes until its wait}}
  %t1 = comm.start {
    comm.all_reduce sum %a outs(%c : !exec.ref<4x4xf32, [4, 1]>) over @mesh {dp} : (!exec.ref<4x4xf32, [4, 1]>) -> ()
  } : !comm.ticket<>
  comm.wait %t0 : !comm.ticket<>
  comm.wait %t1 : !comm.ticket<>
}

// -----

// What is sent lives until the wait.
comm.mesh @mesh [dp = 2]
exec.program @dies arena 128 attributes {comm.program = #comm.program<@mesh>} {
  // expected-note @below {{declared here}}
  exec.buffer @a at 0 bytes 64 live -1 to 0 category inputs name "a" "input" role "" : tensor<4x4xf32>
  exec.buffer @b at 64 bytes 64 live 0 to 1 category activations name "b"
  %a = exec.ref @a + 0 : !exec.ref<4x4xf32, [4, 1]>
  %b = exec.ref @b + 0 : !exec.ref<4x4xf32, [4, 1]>
  %t = comm.start {
    comm.all_reduce sum %a outs(%b : !exec.ref<4x4xf32, [4, 1]>) over @mesh {dp} : (!exec.ref<4x4xf32, [4, 1]>) -> ()
  } : !comm.ticket<>
  // expected-error @below {{'comm.wait' op is action 1 but uses 'a', which lives from -1 to 0}}
  comm.wait %t : !comm.ticket<>
}
