// Programs whose ranks all come to their end; nothing is changed.
// RUN: braid-opt %s > %t.before
// RUN: braid-opt %s --comm-verify-order > %t.after
// RUN: diff %t.before %t.after

comm.mesh @mesh [pp = 2, dp = 4]
comm.mesh @grid [dp = 32, tp = 32]
comm.mesh @ring [pp = 3]

// All ranks run the same: whatever the order, they are in lock step.
func.func @spmd(%x: tensor<32xf32>, %w: tensor<2x4xf32>) -> (tensor<32xf32>, tensor<64x4xf32>, tensor<32xf32>)
    attributes {comm.program = #comm.program<@grid>} {
  %t0 = comm.start {
    %g = comm.all_gather %w dims [0] over @grid {tp} : (tensor<2x4xf32>) -> tensor<64x4xf32>
  } : !comm.ticket<tensor<64x4xf32>>
  %t1 = comm.start {
    %r = comm.all_reduce sum %x over @grid {dp, tp} : (tensor<32xf32>) -> tensor<32xf32>
  } : !comm.ticket<tensor<32xf32>>
  comm.barrier over @grid {dp} : () -> ()
  %p = comm.permute %x pairs [0 -> 1, 1 -> 0] over @grid {tp} : (tensor<32xf32>) -> tensor<32xf32>
  // Waited for in another order than started.
  %r = comm.wait %t1 : !comm.ticket<tensor<32xf32>> -> tensor<32xf32>
  %g = comm.wait %t0 : !comm.ticket<tensor<64x4xf32>> -> tensor<64x4xf32>
  return %r, %g, %p : tensor<32xf32>, tensor<64x4xf32>, tensor<32xf32>
}

// Another program on a mesh that also has one in parts.
func.func @eval(%x: tensor<4xf32>) -> tensor<4xf32> attributes {comm.program = #comm.program<@mesh>} {
  %y = comm.all_reduce mean %x over @mesh {pp, dp} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// GPipe with two microbatches: activations go on while the next is computed, and
// come back as gradients; both stages then reduce over their data parallel ranks
// and share one collective over the mesh.
func.func @first(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32>
    attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  %t0 = comm.start {
    comm.send %a to 1 over @mesh {pp} : (tensor<4xf32>) -> ()
  } : !comm.ticket<>
  %t1 = comm.start {
    comm.send %b to 1 over @mesh {pp} : (tensor<4xf32>) -> ()
  } : !comm.ticket<>
  comm.wait %t0 : !comm.ticket<>
  comm.wait %t1 : !comm.ticket<>
  %t2 = comm.start {
    %r = comm.recv from 1 over @mesh {pp} : () -> tensor<4xf32>
  } : !comm.ticket<tensor<4xf32>>
  %t3 = comm.start {
    %r = comm.recv from 1 over @mesh {pp} : () -> tensor<4xf32>
  } : !comm.ticket<tensor<4xf32>>
  %da = comm.wait %t2 : !comm.ticket<tensor<4xf32>> -> tensor<4xf32>
  %db = comm.wait %t3 : !comm.ticket<tensor<4xf32>> -> tensor<4xf32>
  %sum = arith.addf %da, %db : tensor<4xf32>
  %g = comm.all_reduce sum %sum over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  %n = comm.all_reduce max %g over @mesh {pp, dp} : (tensor<4xf32>) -> tensor<4xf32>
  return %n : tensor<4xf32>
}

func.func @second() -> tensor<4xf32> attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  %a = comm.recv from 0 over @mesh {pp} : () -> tensor<4xf32>
  %b = comm.recv from 0 over @mesh {pp} : () -> tensor<4xf32>
  %t0 = comm.start {
    comm.send %a to 0 over @mesh {pp} : (tensor<4xf32>) -> ()
  } : !comm.ticket<>
  %t1 = comm.start {
    comm.send %b to 0 over @mesh {pp} : (tensor<4xf32>) -> ()
  } : !comm.ticket<>
  // Only these ranks: twice as many collectives over {dp} as the others have.
  %sum = arith.addf %a, %b : tensor<4xf32>
  %h = comm.all_reduce sum %sum over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  %g = comm.all_reduce sum %h over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  comm.wait %t0 : !comm.ticket<>
  comm.wait %t1 : !comm.ticket<>
  %n = comm.all_reduce max %g over @mesh {pp, dp} : (tensor<4xf32>) -> tensor<4xf32>
  return %n : tensor<4xf32>
}

// Rooted: the root alone has operands, or results.
func.func @root(%x: tensor<4xf32>) -> tensor<4xf32> attributes {comm.program = #comm.program<@ring, pp = [0]>} {
  %y = comm.broadcast %x root 0 over @ring {pp} : (tensor<4xf32>) -> tensor<4xf32>
  %z = comm.reduce sum %y root 0 over @ring {pp} : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}

func.func @others() attributes {comm.program = #comm.program<@ring, pp = [1, 2]>} {
  %y = comm.broadcast root 0 over @ring {pp} : () -> tensor<4xf32>
  comm.reduce sum %y root 0 over @ring {pp} : (tensor<4xf32>) -> ()
  return
}
