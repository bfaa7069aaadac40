// Ranks that deadlock, and whom they wait for.
// RUN: braid-opt %s --comm-verify-order --split-input-file --verify-diagnostics

// Crossed order of an all_reduce and a send.
comm.mesh @mesh [pp = 2, tp = 2]
func.func @first(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // expected-error @below {{'comm.all_reduce' op deadlocks: rank 0 waits for all_reduce #0 while rank 2 is at recv #0; all ranks must issue the collectives that they share in the same order}}
  %y = comm.all_reduce sum %x over @mesh {pp, tp} : (tensor<4xf32>) -> tensor<4xf32>
  comm.send %y to 1 over @mesh {pp} : (tensor<4xf32>) -> ()
  return
}
func.func @second(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  // expected-note @below {{rank 2 waits for recv #0 while rank 0 is at all_reduce #0}}
  %y = comm.recv from 0 over @mesh {pp} : () -> tensor<4xf32>
  %z = comm.all_reduce sum %y over @mesh {pp, tp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Collectives over two communicators, in two orders.
comm.mesh @mesh [pp = 2, tp = 2]
func.func @first(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // expected-error @below {{deadlocks: rank 0 waits for barrier #0 while rank 2 is at all_reduce #0}}
  comm.barrier over @mesh {pp} : () -> ()
  %y = comm.all_reduce sum %x over @mesh {pp, tp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func @second(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  // expected-note @below {{rank 2 waits for all_reduce #0 while rank 0 is at barrier #0}}
  %y = comm.all_reduce sum %x over @mesh {pp, tp} : (tensor<4xf32>) -> tensor<4xf32>
  comm.barrier over @mesh {pp} : () -> ()
  return
}

// -----

// Send and recv crossed: both send first.
comm.mesh @mesh [pp = 2]
func.func @first(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // expected-error @below {{deadlocks: rank 0 waits for send #0 over {pp} while rank 1 is at send #0 over {pp}}}
  comm.send %x to 1 over @mesh {pp} : (tensor<4xf32>) -> ()
  %y = comm.recv from 1 over @mesh {pp} : () -> tensor<4xf32>
  return
}
func.func @second(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  // expected-note @below {{rank 1 waits for send #0 over {pp} while rank 0 is at send #0 over {pp}}}
  comm.send %x to 0 over @mesh {pp} : (tensor<4xf32>) -> ()
  %y = comm.recv from 0 over @mesh {pp} : () -> tensor<4xf32>
  return
}

// -----

// Three stages in a ring, each receiving from the one before first.
comm.mesh @mesh [pp = 3]
func.func @a(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // expected-error @below {{deadlocks: rank 0 waits for recv #0 over {pp} while rank 2 is at recv #0 over {pp}}}
  %y = comm.recv from 2 over @mesh {pp} : () -> tensor<4xf32>
  comm.send %y to 1 over @mesh {pp} : (tensor<4xf32>) -> ()
  return
}
func.func @b(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  // expected-note @below {{rank 1 waits for recv #0 over {pp} while rank 0 is at recv #0 over {pp}}}
  %y = comm.recv from 0 over @mesh {pp} : () -> tensor<4xf32>
  comm.send %y to 2 over @mesh {pp} : (tensor<4xf32>) -> ()
  return
}
func.func @c(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [2]>} {
  // expected-note @below {{rank 2 waits for recv #0 over {pp} while rank 1 is at recv #0 over {pp}}}
  %y = comm.recv from 1 over @mesh {pp} : () -> tensor<4xf32>
  comm.send %y to 0 over @mesh {pp} : (tensor<4xf32>) -> ()
  return
}

// -----

// Computing waits for a collective of its own stage, which is queued behind a
// send that the other stage is not ready for.
comm.mesh @mesh [pp = 2, dp = 2]
func.func @first(%x: tensor<4xf32>) -> tensor<4xf32> attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  %t0 = comm.start {
    // expected-error @below {{deadlocks: rank 0 waits for send #0 while rank 2 is at recv #0}}
    comm.send %x to 1 over @mesh {pp} : (tensor<4xf32>) -> ()
  } : !comm.ticket<>
  %t1 = comm.start {
    %r = comm.all_reduce sum %x over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  } : !comm.ticket<tensor<4xf32>>
  // expected-note @below {{rank 0 is here and waits for all_reduce #1, which is queued behind send #0}}
  %r = comm.wait %t1 : !comm.ticket<tensor<4xf32>> -> tensor<4xf32>
  comm.send %r to 2 over @mesh {pp, dp} : (tensor<4xf32>) -> ()
  comm.wait %t0 : !comm.ticket<>
  return %r : tensor<4xf32>
}
func.func @second() attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  // expected-note @below {{rank 2 waits for recv #0 while rank 0 is at send #0}}
  %y = comm.recv from 0 over @mesh {pp, dp} : () -> tensor<4xf32>
  %z = comm.recv from 0 over @mesh {pp} : () -> tensor<4xf32>
  return
}

// -----

// A send without its recv.
comm.mesh @mesh [pp = 2, dp = 2]
func.func @first(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  comm.send %x to 1 over @mesh {pp} : (tensor<4xf32>) -> ()
  // expected-error @below {{deadlocks: rank 0 waits for send #1, but rank 2 has no recv from rank 0 over {pp} left}}
  comm.send %x to 1 over @mesh {pp} : (tensor<4xf32>) -> ()
  return
}
// expected-note @below {{rank 2 runs this}}
func.func @second() attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  %y = comm.recv from 0 over @mesh {pp} : () -> tensor<4xf32>
  return
}

// -----

// A recv without its send: the other stage sends over another communicator.
comm.mesh @mesh [pp = 2, dp = 1]
func.func @first(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // expected-error @below {{deadlocks: rank 0 waits for send #0, but rank 1 has no recv from rank 0 over {pp, dp} left}}
  comm.send %x to 1 over @mesh {pp, dp} : (tensor<4xf32>) -> ()
  return
}
// expected-note @below {{rank 1 runs this}}
func.func @second() attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  %y = comm.recv from 0 over @mesh {pp} : () -> tensor<4xf32>
  return
}

// -----

// A collective that one stage lacks.
comm.mesh @mesh [pp = 2]
func.func @first(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // expected-error @below {{deadlocks: rank 0 waits for all_reduce #0, but rank 1 has no collective over {pp} left}}
  %y = comm.all_reduce sum %x over @mesh {pp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// expected-note @below {{rank 1 runs this}}
func.func @second() attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  return
}

// -----

// Both data parallel ranks of the first stage send to one rank of the second.
comm.mesh @mesh [pp = 2, dp = 2]
func.func @first(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // expected-error @below {{deadlocks: rank 1 waits for send #0, but rank 2 has no recv from rank 1 over {pp, dp} left}}
  comm.send %x to 2 over @mesh {pp, dp} : (tensor<4xf32>) -> ()
  return
}
// expected-note @below {{rank 2 runs this}}
func.func @second() attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  %y = comm.recv from 0 over @mesh {pp, dp} : () -> tensor<4xf32>
  return
}
