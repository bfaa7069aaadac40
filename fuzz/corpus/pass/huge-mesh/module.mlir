

comm.mesh @mesh [pp = 2147483647]
exec.program @first arena 128 attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  exec.buffer @a at 0 bytes 64 live -1 to 2147483647 category inputs name "a" "input" role "" : tensor<16xf32>
  exec.buffer @b at 64 bytes 64 live 0 to 2147483647 category activations name "b"
  %a = exec.ref @a + 0 : !exec.ref<16xf32, [1]>
  %b = exec.ref @b + 0 : !exec.ref<16xf32, [1]>
  comm.reduce sum %a outs(%b : !exec.ref<16xf32, [1]>) root 0 over @mesh {pp} : (!exec.ref<16xf32, [1]>) -> ()
  comm.send %b to 1 over @mesh {pp} : (!exec.ref<16xf32, [1]>) -> ()
}
exec.program @second arena 64 attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  exec.buffer @a at 0 bytes 64 live -1 to 2147483647 category inputs name "a" "input" role "" : tensor<16xf32>
  %a = exec.ref @a + 0 : !exec.ref<16xf32, [1]>
  comm.reduce sum %a root 0 over @mesh {pp} : (!exec.ref<16xf32, [1]>) -> ()
  %t = comm.start {
    comm.recv outs(%a : !exec.ref<16xf32, [1]>) from 0 over @mesh {pp} : () -> ()
  } : !comm.ticket<>
  comm.wait %t : !comm.ticket<>
}
