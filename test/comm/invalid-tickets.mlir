// Tickets: one collective, one wait, in one block.
// RUN: braid-opt %s --split-input-file --verify-diagnostics

comm.mesh @mesh [dp = 4]
func.func @f() {
  // start_c1
  // expected-error @below {{must hold one collective or comm.copy, but holds nothing}}
  %t = comm.start {
  } : !comm.ticket<>
  comm.wait %t : !comm.ticket<>
  return
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f() {
  // start_c1
  // expected-error @below {{must hold one collective or comm.copy, but holds several ops}}
  %t = comm.start {
    comm.barrier over @mesh {dp} : () -> ()
    comm.barrier over @mesh {dp} : () -> ()
  } : !comm.ticket<>
  comm.wait %t : !comm.ticket<>
  return
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f() {
  // start_c1
  // expected-error @below {{must hold one collective or comm.copy, but holds another op}}
  %t = comm.start {
    %i = comm.axis_index over @mesh {dp} : tensor<i32>
  } : !comm.ticket<tensor<i32>>
  %i = comm.wait %t : !comm.ticket<tensor<i32>> -> tensor<i32>
  return
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f(%x: tensor<4xf32>) {
  // start_c2
  // expected-error @below {{has the ticket '!comm.ticket<tensor<8xf32>>', but the op in its body has the results '!comm.ticket<tensor<4xf32>>'}}
  %t = comm.start {
    %y = comm.all_reduce sum %x over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  } : !comm.ticket<tensor<8xf32>>
  %y = comm.wait %t : !comm.ticket<tensor<8xf32>> -> tensor<8xf32>
  return
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f() {
  // start_c3
  // expected-error @below {{has a ticket that is never waited for; add a comm.wait in this block}}
  %t = comm.start {
    comm.barrier over @mesh {dp} : () -> ()
  } : !comm.ticket<>
  return
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f() {
  // start_c3
  // expected-error @below {{has a ticket with two comm.waits; remove one of them}}
  %t = comm.start {
    comm.barrier over @mesh {dp} : () -> ()
  } : !comm.ticket<>
  // expected-note @below {{here}}
  comm.wait %t : !comm.ticket<>
  comm.wait %t : !comm.ticket<>
  return
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f(%n: index, %c: f32) {
  // start_c3
  // expected-error @below {{has a ticket whose comm.wait is in another block or before the start; move it behind the start in the same block}}
  %t = comm.start {
    comm.barrier over @mesh {dp} : () -> ()
  } : !comm.ticket<>
  %0 = tensor.generate %n {
  ^bb0(%i: index):
    // expected-note @below {{here}}
    comm.wait %t : !comm.ticket<>
    tensor.yield %c : f32
  } : tensor<?xf32>
  return
}

// -----

comm.mesh @mesh [dp = 4]
// start_c3, where the order in the block does not follow from dominance
exec.program @f arena 0 {
  // expected-note @below {{here}}
  comm.wait %t : !comm.ticket<>
  // expected-error @below {{has a ticket whose comm.wait is in another block or before the start; move it behind the start in the same block}}
  %t = comm.start {
    comm.barrier over @mesh {dp} : () -> ()
  } : !comm.ticket<>
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f() -> !comm.ticket<> {
  // start_c3
  // expected-error @below {{has a ticket that is used by an op other than comm.wait}}
  %t = comm.start {
    comm.barrier over @mesh {dp} : () -> ()
  } : !comm.ticket<>
  // expected-note @below {{here}}
  return %t : !comm.ticket<>
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f(%x: tensor<4xf32>) {
  %t = comm.start {
    %y = comm.all_reduce sum %x over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  } : !comm.ticket<tensor<4xf32>>
  // wait_c1
  // expected-error @below {{has the results '!comm.ticket<>', but the ticket is '!comm.ticket<tensor<4xf32>>'}}
  comm.wait %t : !comm.ticket<tensor<4xf32>>
  return
}

// -----

func.func @f(%t: !comm.ticket<>) {
  // wait_c2
  // expected-error @below {{waits for a ticket that no comm.start makes}}
  comm.wait %t : !comm.ticket<>
  return
}
