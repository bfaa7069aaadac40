// Collectives with a root or a peer: what they have in a function follows from the
// ranks that run it.
// RUN: braid-opt %s --split-input-file --verify-diagnostics

comm.mesh @mesh [pp = 2]
func.func @f(%x: tensor<4xf32>) {
  // broadcast_c1
  // expected-error @below {{the root 2 is not one of the 2 ranks of {pp}; they are numbered from 0}}
  %0 = comm.broadcast %x root 2 over @mesh {pp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @f(%x: tensor<4xf32>) {
  // broadcast_c2
  // expected-error @below {{result #0 is 'tensor<5xf32>', but operand #0 is 'tensor<4xf32>'; they must be the same}}
  %0 = comm.broadcast %x root 0 over @mesh {pp} : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

comm.mesh @mesh [pp = 3]
func.func @f(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0, 1]>} {
  // broadcast_c2
  // expected-error @below {{has 0 results for 1 operands; each operand needs one result}}
  comm.broadcast %x root 0 over @mesh {pp} : (tensor<4xf32>) -> ()
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @f() attributes {comm.program = #comm.program<@mesh>} {
  // broadcast_c3
  // expected-error @below {{has no operands, but the root 0 runs this function; give the tensors that it sends}}
  %0 = comm.broadcast root 0 over @mesh {pp} : () -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @f(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  // broadcast_c3
  // expected-error @below {{has operands, but only the root sends, and the root 0 does not run this function; drop the operands}}
  %0 = comm.broadcast %x root 0 over @mesh {pp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [pp = 2, dp = 2]
func.func @f() attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  // broadcast_c3: every group along dp has its root here
  // expected-error @below {{has no operands, but the root 0 runs this function; give the tensors that it sends}}
  %0 = comm.broadcast root 0 over @mesh {dp} : () -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @f(%x: tensor<4xf32>) {
  // reduce_c1
  // expected-error @below {{the root -1 is not one of the 2 ranks of {pp}}}
  comm.reduce sum %x root -1 over @mesh {pp} : (tensor<4xf32>) -> ()
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @f(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // reduce_c2
  // expected-error @below {{result #0 is 'tensor<8xf32>', but operand #0 is 'tensor<4xf32>'; they must be the same}}
  %0 = comm.reduce sum %x root 0 over @mesh {pp} : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @f(%x: tensor<4xi1>) attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  // reduce_c2
  // expected-error @below {{operand #0 has elements i1, which have no sum; take max (or) or min (and)}}
  comm.reduce sum %x root 0 over @mesh {pp} : (tensor<4xi1>) -> ()
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @f(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // reduce_c3
  // expected-error @below {{has no results, but the root 0 runs this function}}
  comm.reduce sum %x root 0 over @mesh {pp} : (tensor<4xf32>) -> ()
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @f(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  // reduce_c3
  // expected-error @below {{has results, but the root 0 does not run this function; drop the results}}
  %0 = comm.reduce sum %x root 0 over @mesh {pp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @f(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh>} {
  // reduce_c3
  // expected-error @below {{is in a function that the root 0 and other ranks of {pp} run together, but only the root has a result; give the root a function of its own with comm.program}}
  %0 = comm.reduce sum %x root 0 over @mesh {pp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [pp = 2, dp = 2]
func.func @f(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // reduce_c3: rank (0, 1) is here too, and not a root
  // expected-error @below {{is in a function that the root 0 and other ranks of {pp, dp} run together}}
  %0 = comm.reduce sum %x root 0 over @mesh {pp, dp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @f(%x: tensor<4xf32>) {
  // reduce_c3: without comm.program all ranks run it
  // expected-error @below {{run together, but only the root has a result}}
  comm.reduce sum %x root 0 over @mesh {pp} : (tensor<4xf32>) -> ()
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @f(%r: !exec.ref<4xf32, [1]>) attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  // reduce_c3, in memory
  // expected-error @below {{has results, but the root 0 does not run this function; drop the results}}
  comm.reduce sum %r outs(%r : !exec.ref<4xf32, [1]>) root 0 over @mesh {pp} : (!exec.ref<4xf32, [1]>) -> ()
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @f(%x: tensor<2x4xf32>) {
  // gather_c1
  // expected-error @below {{the root 7 is not one of the 2 ranks of {pp}}}
  comm.gather %x dims [0] root 7 over @mesh {pp} : (tensor<2x4xf32>) -> ()
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @f(%x: tensor<2x4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  // gather_c2
  // expected-error @below {{'dims' names dim 2 of operand #0, but 'tensor<2x4xf32>' has 2 dims}}
  comm.gather %x dims [2] root 0 over @mesh {pp} : (tensor<2x4xf32>) -> ()
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @f(%x: tensor<2x4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  // gather_c2
  // expected-error @below {{operand #0 is 'tensor<2x4xf32>', but a flat range has one dim}}
  comm.gather %x dims [flat] root 0 over @mesh {pp} : (tensor<2x4xf32>) -> ()
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @f(%x: tensor<2x4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // gather_c2
  // expected-error @below {{result #0 is 'tensor<8x4xf32>', which is not 2 blocks of operand #0, 'tensor<2x4xf32>', along dim 0}}
  %0 = comm.gather %x dims [0] root 0 over @mesh {pp} : (tensor<2x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @f(%x: tensor<2x4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // gather_c3
  // expected-error @below {{has no results, but the root 0 runs this function}}
  comm.gather %x dims [0] root 0 over @mesh {pp} : (tensor<2x4xf32>) -> ()
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @f(%x: tensor<4x4xf32>) {
  // scatter_c1
  // expected-error @below {{the root 2 is not one of the 2 ranks of {pp}}}
  %0 = comm.scatter %x dims [0] root 2 over @mesh {pp} : (tensor<4x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @f(%x: tensor<3x4xf32>) {
  // scatter_c2
  // expected-error @below {{dim 0 of operand #0 has size 3, which does not divide into 2 equal blocks; pad it with tg.pad, or split it flat}}
  %0 = comm.scatter %x dims [0] root 0 over @mesh {pp} : (tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @f(%x: tensor<4x4xf32>) {
  // scatter_c2
  // expected-error @below {{operand #0 has elements 'f32', but result #0 has 'bf16'}}
  %0 = comm.scatter %x dims [0] root 0 over @mesh {pp} : (tensor<4x4xf32>) -> tensor<2x4xbf16>
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @f() attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  // scatter_c2
  // expected-error @below {{'dims' names dim 2 of result #0, but 'tensor<2x4xf32>' has 2 dims}}
  %0 = comm.scatter dims [2] root 0 over @mesh {pp} : () -> tensor<2x4xf32>
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @f() attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // scatter_c3
  // expected-error @below {{has no operands, but the root 0 runs this function; give the tensors that it sends}}
  %0 = comm.scatter dims [0] root 0 over @mesh {pp} : () -> tensor<2x4xf32>
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @f(%x: tensor<4x4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  // scatter_c3
  // expected-error @below {{has operands, but only the root sends, and the root 0 does not run this function; drop the operands}}
  %0 = comm.scatter %x dims [0] root 0 over @mesh {pp} : (tensor<4x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @f(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // send_c1
  // expected-error @below {{the peer 2 is not one of the 2 ranks of {pp}}}
  comm.send %x to 2 over @mesh {pp} : (tensor<4xf32>) -> ()
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @f(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh>} {
  // send_c1
  // expected-error @below {{the peer 1 of {pp} runs this function too; ranks that run one function use comm.permute}}
  comm.send %x to 1 over @mesh {pp} : (tensor<4xf32>) -> ()
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @f(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // send_c2
  // expected-error @below {{has 1 results; a send receives nothing}}
  %0 = comm.send %x to 1 over @mesh {pp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @f() attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  // recv_c1
  // expected-error @below {{the peer 1 of {pp} runs this function too; ranks that run one function use comm.permute}}
  %0 = comm.recv from 1 over @mesh {pp} : () -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @f(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  // recv_c2
  // expected-error @below {{has 1 operands; a recv sends nothing}}
  %0 = comm.recv %x from 0 over @mesh {pp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
