// Programs in memory form are checked as those on values.
// RUN: braid-opt %s --comm-verify-order --split-input-file --verify-diagnostics

comm.mesh @mesh [pp = 2]
exec.program @first arena 128 attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  exec.buffer @a at 0 bytes 64 live -1 to 2 category inputs name "a" "input" role "" : tensor<16xf32>
  exec.buffer @b at 64 bytes 64 live 0 to 2 category activations name "b"
  %a = exec.ref @a + 0 : !exec.ref<16xf32, [1]>
  // expected-error @below {{is not the same collective on ranks 0 and 1: tensor 0 is tensor<16xf32> on rank 0 and tensor<4x4xf32> on rank 1}}
  comm.all_reduce sum %a outs(%a : !exec.ref<16xf32, [1]>) over @mesh {pp} : (!exec.ref<16xf32, [1]>) -> ()
}
exec.program @second arena 64 attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  exec.buffer @a at 0 bytes 64 live -1 to 1 category inputs name "a" "input" role "" : tensor<4x4xf32>
  %a = exec.ref @a + 0 : !exec.ref<4x4xf32, [4, 1]>
  // expected-note @below {{rank 1 is at all_reduce #0 here}}
  comm.all_reduce sum %a outs(%a : !exec.ref<4x4xf32, [4, 1]>) over @mesh {pp} : (!exec.ref<4x4xf32, [4, 1]>) -> ()
}

// -----

comm.mesh @mesh [pp = 2]
exec.program @first arena 64 attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  exec.buffer @a at 0 bytes 64 live -1 to 2 category inputs name "a" "input" role "" : tensor<16xf32>
  %a = exec.ref @a + 0 : !exec.ref<16xf32, [1]>
  // expected-error @below {{deadlocks: rank 0 waits for barrier #0 while rank 1 is at recv #0}}
  comm.barrier over @mesh {pp} : () -> ()
  %t = comm.start {
    comm.send %a to 1 over @mesh {pp} : (!exec.ref<16xf32, [1]>) -> ()
  } : !comm.ticket<>
  comm.wait %t : !comm.ticket<>
}
exec.program @second arena 64 attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  exec.buffer @a at 0 bytes 64 live 0 to 2 category activations name "a"
  %a = exec.ref @a + 0 : !exec.ref<16xf32, [1]>
  // expected-note @below {{rank 1 waits for recv #0 while rank 0 is at barrier #0}}
  comm.recv outs(%a : !exec.ref<16xf32, [1]>) from 0 over @mesh {pp} : () -> ()
  comm.barrier over @mesh {pp} : () -> ()
}

// -----

// One sends what the other receives, and a root alone has a result.
comm.mesh @mesh [pp = 2]
exec.program @first arena 128 attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  exec.buffer @a at 0 bytes 64 live -1 to 2 category inputs name "a" "input" role "" : tensor<16xf32>
  exec.buffer @b at 64 bytes 64 live 0 to 2 category activations name "b"
  %a = exec.ref @a + 0 : !exec.ref<16xf32, [1]>
  %b = exec.ref @b + 0 : !exec.ref<16xf32, [1]>
  comm.reduce sum %a outs(%b : !exec.ref<16xf32, [1]>) root 0 over @mesh {pp} : (!exec.ref<16xf32, [1]>) -> ()
  comm.send %b to 1 over @mesh {pp} : (!exec.ref<16xf32, [1]>) -> ()
}
exec.program @second arena 64 attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  exec.buffer @a at 0 bytes 64 live -1 to 2 category inputs name "a" "input" role "" : tensor<16xf32>
  %a = exec.ref @a + 0 : !exec.ref<16xf32, [1]>
  comm.reduce sum %a root 0 over @mesh {pp} : (!exec.ref<16xf32, [1]>) -> ()
  %t = comm.start {
    comm.recv outs(%a : !exec.ref<16xf32, [1]>) from 0 over @mesh {pp} : () -> ()
  } : !comm.ticket<>
  comm.wait %t : !comm.ticket<>
}
