// Which ranks run which function, and collectives without a place in the order.
// RUN: braid-opt %s --comm-verify-order --allow-unregistered-dialect --split-input-file --verify-diagnostics

comm.mesh @mesh [pp = 3]
// expected-note @below {{they run this one}}
func.func @first() attributes {comm.program = #comm.program<@mesh, pp = [0, 1]>} {
  return
}
// expected-error @below {{the ranks with pp = 1 would run two functions}}
func.func @second() attributes {comm.program = #comm.program<@mesh, pp = [1, 2]>} {
  return
}

// -----

comm.mesh @mesh [pp = 4, dp = 2]
// expected-error @below {{no function of the program on @mesh {pp = 4, dp = 2} is run by the ranks with pp = 2; add one, even if it is empty}}
func.func @first(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0, 1]>} {
  %y = comm.all_reduce sum %x over @mesh {pp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func @second(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [3]>} {
  %y = comm.all_reduce sum %x over @mesh {pp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [pp = 2, dp = 2]
// expected-note @below {{the first is split along 'pp'}}
func.func @first() attributes {comm.program = #comm.program<@mesh, pp = [0, 1]>} {
  return
}
// expected-error @below {{the functions of a program must be split along one axis; this one is split along 'dp'}}
func.func @second() attributes {comm.program = #comm.program<@mesh, dp = [0, 1]>} {
  return
}

// -----

comm.mesh @mesh [pp = 2]
// expected-note @below {{add comm.program = #comm.program<@mesh> if all ranks run it}}
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{is in a function without 'comm.program', so the ranks that run it are unknown}}
  %y = comm.all_reduce sum %x over @mesh {pp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @callee(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh>} {
  %y = comm.all_reduce sum %x over @mesh {pp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func @f(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh>} {
  // expected-error @below {{calls a program of ranks, but the collectives of a rank are ordered in one function; inline it first}}
  func.call @callee(%x) : (tensor<4xf32>) -> ()
  return
}

// -----

comm.mesh @mesh [pp = 2]
// expected-error @below {{a program of ranks is one block, in which the order of collectives is fixed; this one has 2}}
func.func @f(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh>} {
  "unknown.br"()[^next] : () -> ()
^next:
  %y = comm.all_reduce sum %x over @mesh {pp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [pp = 2]
// expected-error @below {{a program of ranks is one block, in which the order of collectives is fixed; this one has 2}}
func.func @f(%x: tensor<4xf32> {tg.input = "x"}) attributes {comm.program = #comm.program<@mesh>} {
  return
^bb1(%a: tensor<4xf32>, %b: tensor<4xf32>):
  %y = comm.all_reduce sum %b over @mesh {pp} {comm.moved = ["x"]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @f(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh>} {
  %c = arith.constant 1.0 : f32
  %y = tensor.generate {
  ^bb0(%i: index):
    // expected-error @below {{is inside 'tensor.generate', so its position in the order of collectives is unknown at compile time}}
    comm.barrier over @mesh {pp} : () -> ()
    tensor.yield %c : f32
  } : tensor<4xf32>
  return
}

// -----

// Two programs by their entries: that of the second comes to nobody.
comm.mesh @mesh [pp = 2]
func.func @a(%x: tensor<4xf32>) attributes {comm.entry = "a", comm.program = #comm.program<@mesh, pp = [0]>} {
  comm.broadcast %x root 0 over @mesh {pp} : (tensor<4xf32>) -> ()
  return
}
func.func @a_others() attributes {comm.entry = "a", comm.program = #comm.program<@mesh, pp = [1]>} {
  %y = comm.broadcast root 0 over @mesh {pp} : () -> tensor<4xf32>
  return
}
// expected-error @below {{no function of the program on @mesh {pp = 2} is run by the ranks with pp = 1; add one, even if it is empty}}
func.func @b(%x: tensor<4xf32>) attributes {comm.entry = "b", comm.program = #comm.program<@mesh, pp = [0]>} {
  comm.broadcast %x root 0 over @mesh {pp} : (tensor<4xf32>) -> ()
  return
}
