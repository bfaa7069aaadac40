// Programs in memory form: the order, and the bytes of collectives under way.
// RUN: braid-opt %s --comm-verify-order --split-input-file --verify-diagnostics

// The order is checked as on values; a collective may write where it reads.
comm.mesh @mesh [pp = 2]
exec.program @first arena 128 attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  exec.buffer @a at 0 bytes 64 live -1 to 2 cause "inputs" name "a" "input" role "" : tensor<16xf32>
  exec.buffer @b at 64 bytes 64 live 0 to 2 cause "activations" name "b"
  %a = exec.ref @a + 0 : !exec.ref<16xf32, [1]>
  // expected-error @below {{disagree: tensor 0 is tensor<16xf32> on rank 0 and tensor<4x4xf32> on rank 1}}
  comm.all_reduce sum %a outs(%a : !exec.ref<16xf32, [1]>) over @mesh {pp} : (!exec.ref<16xf32, [1]>) -> ()
}
exec.program @second arena 64 attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  exec.buffer @a at 0 bytes 64 live -1 to 1 cause "inputs" name "a" "input" role "" : tensor<4x4xf32>
  %a = exec.ref @a + 0 : !exec.ref<4x4xf32, [4, 1]>
  // expected-note @below {{rank 1 is at all_reduce #0 here}}
  comm.all_reduce sum %a outs(%a : !exec.ref<4x4xf32, [4, 1]>) over @mesh {pp} : (!exec.ref<4x4xf32, [4, 1]>) -> ()
}

// -----

// What is right: other bytes of the same buffer, reads of what is sent, the same
// bytes after the wait, and a second collective beside the first.
comm.mesh @mesh [dp = 2]
exec.tensor @w at 0 bytes 64 cause "parameters" : tensor<4x4xf32> = #tg.param<"w", #tg.init<zeros>>
exec.program @train arena 256 attributes {comm.program = #comm.program<@mesh>} {
  exec.buffer @a at 64 bytes 64 live -1 to 6 cause "inputs" name "a" "input" role "" : tensor<4x4xf32>
  exec.buffer @b at 128 bytes 128 live 0 to 6 cause "activations" name "b"
  %w = exec.ref @w + 0 : !exec.ref<4x4xf32, [4, 1]>
  %a = exec.ref @a + 0 : !exec.ref<4x4xf32, [4, 1]>
  %left = exec.ref @b + 0 : !exec.ref<4x4xf32, [8, 1]>
  %right = exec.ref @b + 16 : !exec.ref<4x4xf32, [8, 1]>
  %t0 = comm.start {
    comm.all_reduce sum %a outs(%left : !exec.ref<4x4xf32, [8, 1]>) over @mesh {dp} : (!exec.ref<4x4xf32, [4, 1]>) -> ()
  } : !comm.ticket<>
  exec.matmul "ij,jk->ik"(%a, %w) outs(%right : !exec.ref<4x4xf32, [8, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
  %t1 = comm.start {
    comm.all_reduce sum %right outs(%right : !exec.ref<4x4xf32, [8, 1]>) over @mesh {dp} : (!exec.ref<4x4xf32, [8, 1]>) -> ()
  } : !comm.ticket<>
  comm.wait %t0 : !comm.ticket<>
  exec.matmul "ij,jk->ik"(%left, %w) outs(%a : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [8, 1]>, !exec.ref<4x4xf32, [4, 1]>
  comm.wait %t1 : !comm.ticket<>
}

// -----

comm.mesh @mesh [dp = 2]
exec.program @writes_sent arena 192 attributes {comm.program = #comm.program<@mesh>} {
  exec.buffer @a at 0 bytes 64 live -1 to 3 cause "inputs" name "a" "input" role "" : tensor<4x4xf32>
  exec.buffer @b at 64 bytes 64 live 0 to 3 cause "activations" name "b"
  exec.buffer @c at 128 bytes 64 live -1 to 3 cause "inputs" name "c" "input" role "" : tensor<4x4xf32>
  %a = exec.ref @a + 0 : !exec.ref<4x4xf32, [4, 1]>
  %row = exec.ref @a + 32 : !exec.ref<1x4xf32, [4, 1]>
  %b = exec.ref @b + 0 : !exec.ref<4x4xf32, [4, 1]>
  %c = exec.ref @c + 0 : !exec.ref<4x4xf32, [4, 1]>
  %x = exec.ref @c + 0 : !exec.ref<1x4xf32, [4, 1]>
  // expected-note @below {{started here with 'a'; wait for it before the write}}
  %t = comm.start {
    comm.all_reduce sum %a outs(%b : !exec.ref<4x4xf32, [4, 1]>) over @mesh {dp} : (!exec.ref<4x4xf32, [4, 1]>) -> ()
  } : !comm.ticket<>
  // expected-error @below {{'exec.matmul' op writes bytes of 'a' that a collective under way sends}}
  exec.matmul "ij,jk->ik"(%x, %c) outs(%row : !exec.ref<1x4xf32, [4, 1]>) : !exec.ref<1x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
  comm.wait %t : !comm.ticket<>
}

// -----

comm.mesh @mesh [dp = 2]
exec.program @reads_received arena 192 attributes {comm.program = #comm.program<@mesh>} {
  exec.buffer @a at 0 bytes 64 live -1 to 3 cause "inputs" name "a" "input" role "" : tensor<4x4xf32>
  exec.buffer @b at 64 bytes 64 live -1 to 3 cause "activations" name "b"
  exec.buffer @c at 128 bytes 64 live 0 to 3 cause "activations" name "c"
  %a = exec.ref @a + 0 : !exec.ref<4x4xf32, [4, 1]>
  %b = exec.ref @b + 0 : !exec.ref<4x4xf32, [4, 1]>
  %c = exec.ref @c + 0 : !exec.ref<4x4xf32, [4, 1]>
  // expected-note @below {{started here with 'b'; wait for it before the read}}
  %t = comm.start {
    comm.all_reduce sum %a outs(%b : !exec.ref<4x4xf32, [4, 1]>) over @mesh {dp} : (!exec.ref<4x4xf32, [4, 1]>) -> ()
  } : !comm.ticket<>
  // expected-error @below {{reads bytes of 'b' that a collective under way receives}}
  exec.matmul "ij,jk->ik"(%a, %b) outs(%c : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
  comm.wait %t : !comm.ticket<>
}

// -----

// Through another buffer at the same place, by a second collective.
comm.mesh @mesh [dp = 2]
exec.program @writes_received arena 192 attributes {comm.program = #comm.program<@mesh>} {
  exec.buffer @a at 0 bytes 64 live -1 to 4 cause "inputs" name "a" "input" role "" : tensor<4x4xf32>
  exec.buffer @b at 64 bytes 64 live 0 to 4 cause "activations" name "b"
  exec.buffer @c at 96 bytes 64 live 0 to 4 cause "activations" name "c"
  %a = exec.ref @a + 0 : !exec.ref<4x4xf32, [4, 1]>
  %b = exec.ref @b + 0 : !exec.ref<4x4xf32, [4, 1]>
  %c = exec.ref @c + 0 : !exec.ref<4x4xf32, [4, 1]>
  // expected-note @below {{started here with 'b'; wait for it before the write}}
  %t0 = comm.start {
    comm.all_reduce sum %a outs(%b : !exec.ref<4x4xf32, [4, 1]>) over @mesh {dp} : (!exec.ref<4x4xf32, [4, 1]>) -> ()
  } : !comm.ticket<>
  // expected-error @below {{'comm.start' op writes bytes of 'c' that a collective under way receives}}
  %t1 = comm.start {
    comm.all_reduce sum %a outs(%c : !exec.ref<4x4xf32, [4, 1]>) over @mesh {dp} : (!exec.ref<4x4xf32, [4, 1]>) -> ()
  } : !comm.ticket<>
  comm.wait %t0 : !comm.ticket<>
  comm.wait %t1 : !comm.ticket<>
}

// -----

comm.mesh @mesh [dp = 2]
exec.program @dies arena 128 attributes {comm.program = #comm.program<@mesh>} {
  // expected-note @below {{declared here}}
  exec.buffer @a at 0 bytes 64 live -1 to 0 cause "inputs" name "a" "input" role "" : tensor<4x4xf32>
  exec.buffer @b at 64 bytes 64 live 0 to 1 cause "activations" name "b"
  %a = exec.ref @a + 0 : !exec.ref<4x4xf32, [4, 1]>
  %b = exec.ref @b + 0 : !exec.ref<4x4xf32, [4, 1]>
  // expected-error @below {{is under way from action 0 to its wait, action 1, but 'a' lives from -1 to 0}}
  %t = comm.start {
    comm.all_reduce sum %a outs(%b : !exec.ref<4x4xf32, [4, 1]>) over @mesh {dp} : (!exec.ref<4x4xf32, [4, 1]>) -> ()
  } : !comm.ticket<>
  comm.wait %t : !comm.ticket<>
}
