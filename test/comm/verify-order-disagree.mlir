// Ranks of a group that come to different collectives: both, and what differs.
// RUN: braid-opt %s --comm-verify-order --split-input-file --verify-diagnostics

comm.mesh @mesh [pp = 2]
func.func @first(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // expected-error @below {{'comm.all_reduce' op is not the same collective on ranks 0 and 1: rank 0 is at all_reduce #0 and rank 1 at barrier #0}}
  %y = comm.all_reduce sum %x over @mesh {pp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func @second() attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  // expected-note @below {{rank 1 is at barrier #0 here}}
  comm.barrier over @mesh {pp} : () -> ()
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @first(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  comm.barrier over @mesh {pp} : () -> ()
  // expected-error @below {{is not the same collective on ranks 0 and 1: the reduction is sum on rank 0 and max on rank 1}}
  %y = comm.all_reduce sum %x over @mesh {pp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func @second(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  comm.barrier over @mesh {pp} : () -> ()
  // expected-note @below {{rank 1 is at all_reduce #1 here}}
  %y = comm.all_reduce max %x over @mesh {pp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @first(%x: tensor<4x4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // expected-error @below {{is not the same collective on ranks 0 and 1: 'dims' is [0] on rank 0 and [1] on rank 1}}
  %y = comm.all_gather %x dims [0] over @mesh {pp} : (tensor<4x4xf32>) -> tensor<8x4xf32>
  return
}
func.func @second(%x: tensor<4x4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  // expected-note @below {{rank 1 is at all_gather #0 here}}
  %y = comm.all_gather %x dims [1] over @mesh {pp} : (tensor<4x4xf32>) -> tensor<4x8xf32>
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @first(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // expected-error @below {{is not the same collective on ranks 0 and 1: tensor 0 is tensor<4xf32> on rank 0 and tensor<4xbf16> on rank 1}}
  %y = comm.all_reduce sum %x over @mesh {pp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func @second(%x: tensor<4xbf16>) attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  // expected-note @below {{rank 1 is at all_reduce #0 here}}
  %y = comm.all_reduce sum %x over @mesh {pp} : (tensor<4xbf16>) -> tensor<4xbf16>
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @first(%x: tensor<4xf32>, %z: tensor<2xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // expected-error @below {{is not the same collective on ranks 0 and 1: the number of tensors is 2 on rank 0 and 1 on rank 1}}
  %y:2 = comm.all_reduce sum %x, %z over @mesh {pp} : (tensor<4xf32>, tensor<2xf32>) -> (tensor<4xf32>, tensor<2xf32>)
  return
}
func.func @second(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  // expected-note @below {{rank 1 is at all_reduce #0 here}}
  %y = comm.all_reduce sum %x over @mesh {pp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @first(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // expected-error @below {{is not the same collective on ranks 0 and 1: the root is 0 on rank 0 and 1 on rank 1}}
  %y = comm.broadcast %x root 0 over @mesh {pp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func @second(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  // expected-note @below {{rank 1 is at broadcast #0 here}}
  %y = comm.broadcast %x root 1 over @mesh {pp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// What the root sends is what the others receive.
comm.mesh @mesh [pp = 2]
func.func @first(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // expected-error @below {{is not the same collective on ranks 0 and 1: tensor 0 is tensor<4xf32> on rank 0 and tensor<5xf32> on rank 1}}
  %y = comm.broadcast %x root 0 over @mesh {pp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func @second() attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  // expected-note @below {{rank 1 is at broadcast #0 here}}
  %y = comm.broadcast root 0 over @mesh {pp} : () -> tensor<5xf32>
  return
}

// -----

// Crossed permutes.
comm.mesh @mesh [pp = 2]
func.func @first(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // expected-error @below {{is not the same collective on ranks 0 and 1: 'pairs' is [0, 1] on rank 0 and [1, 0] on rank 1}}
  %y = comm.permute %x pairs [0 -> 1] over @mesh {pp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func @second(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  // expected-note @below {{rank 1 is at permute #0 here}}
  %y = comm.permute %x pairs [1 -> 0] over @mesh {pp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @first(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // expected-error @below {{is not the same collective on ranks 0 and 1: rank 0 is at permute #0 and rank 1 at all_reduce #0}}
  %y = comm.permute %x pairs [0 -> 1] over @mesh {pp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func @second(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  // expected-note @below {{rank 1 is at all_reduce #0 here}}
  %y = comm.all_reduce sum %x over @mesh {pp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @first(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // expected-error @below {{is not the same collective on ranks 0 and 1: tensor 0 is tensor<4xf32> on rank 0 and tensor<2x2xf32> on rank 1}}
  comm.send %x to 1 over @mesh {pp} : (tensor<4xf32>) -> ()
  return
}
func.func @second() attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  // expected-note @below {{rank 1 is at recv #0 here}}
  %y = comm.recv from 0 over @mesh {pp} : () -> tensor<2x2xf32>
  return
}

// -----

// The same ranks in another order are another communicator.
comm.mesh @mesh [pp = 2, tp = 2]
func.func @first(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // expected-error @below {{deadlocks: rank 0 waits for all_reduce #0, but rank 2 has no collective over {pp, tp} left}}
  %y = comm.all_reduce sum %x over @mesh {pp, tp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// expected-note @below {{rank 2 runs this}}
func.func @second(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  %y = comm.all_reduce sum %x over @mesh {tp, pp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Two tensors of one type, in another order.
comm.mesh @mesh [pp = 2]
func.func @first(%x: tensor<4xf32>, %y: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // expected-error @below {{is not the same collective on ranks 0 and 1: the list of moved values ('comm.moved') is ["x"] on rank 0 and [7] on rank 1}}
  comm.send %x to 1 over @mesh {pp} {comm.moved = ["x"]} : (tensor<4xf32>) -> ()
  comm.send %y to 1 over @mesh {pp} {comm.moved = [7]} : (tensor<4xf32>) -> ()
  return
}
func.func @second() attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  // expected-note @below {{rank 1 is at recv #0 here}}
  %y = comm.recv from 0 over @mesh {pp} {comm.moved = [7]} : () -> tensor<4xf32>
  %x = comm.recv from 0 over @mesh {pp} {comm.moved = ["x"]} : () -> tensor<4xf32>
  return
}

// -----

// A sum of one thing on rank 0 and of another on rank 1.
comm.mesh @mesh [pp = 2]
func.func @first(%x: tensor<f32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // expected-error @below {{the list of moved values ('comm.moved') is [3] on rank 0 and [4] on rank 1}}
  %a = comm.all_reduce sum %x over @mesh {pp} {comm.moved = [3]} : (tensor<f32>) -> tensor<f32>
  return
}
func.func @second(%x: tensor<f32>) attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  // expected-note @below {{rank 1 is at all_reduce #0 here}}
  %a = comm.all_reduce sum %x over @mesh {pp} {comm.moved = [4]} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

// An argument of another name than the op says.
comm.mesh @mesh [pp = 2]
func.func @first(%x: tensor<4xf32> {tg.input = "x"}, %y: tensor<4xf32> {tg.input = "y"}) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // expected-note @above {{this is sent}}
  // expected-error @below {{moves "x" by its attributes and facts, but sends "y"}}
  comm.send %y to 1 over @mesh {pp} {comm.moved = ["x"]} : (tensor<4xf32>) -> ()
  return
}
func.func @second() attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  %x = comm.recv from 0 over @mesh {pp} {comm.moved = ["x"]} : () -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @first(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // expected-error @below {{'comm.moved' has 2 entries for 1 tensors}}
  comm.send %x to 1 over @mesh {pp} {comm.moved = ["x", 7]} : (tensor<4xf32>) -> ()
  return
}

// -----

comm.mesh @mesh [pp = 2]
func.func @first(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // expected-error @below {{'comm.moved' is a list of names and numbers, found unit}}
  comm.send %x to 1 over @mesh {pp} {comm.moved} : (tensor<4xf32>) -> ()
  return
}

// -----

// Ranks call their parts of a sum by the stage: NAME.stageN is NAME.
comm.mesh @mesh [pp = 2]
func.func @first(%x: tensor<4xf32> {tg.input = "w.grad.stage0"}) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  %a = comm.all_reduce sum %x over @mesh {pp} {comm.moved = ["w.grad"]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func @last(%x: tensor<4xf32> {tg.input = "w.grad.stage10"}) attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  %a = comm.all_reduce sum %x over @mesh {pp} {comm.moved = ["w.grad"]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [pp = 2]
// expected-note @below {{this is sent}}
func.func @f(%x: tensor<4xf32> {tg.input = "w.grad.stage"}) attributes {comm.program = #comm.program<@mesh>} {
  // expected-error @below {{moves "w.grad" by its attributes and facts, but sends "w.grad.stage"}}
  %a = comm.all_reduce sum %x over @mesh {pp} {comm.moved = ["w.grad"]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [pp = 2]
// expected-note @below {{this is sent}}
func.func @f(%x: tensor<4xf32> {tg.input = "w.grad.stage1x"}) attributes {comm.program = #comm.program<@mesh>} {
  // expected-error @below {{moves "w.grad" by its attributes and facts, but sends "w.grad.stage1x"}}
  %a = comm.all_reduce sum %x over @mesh {pp} {comm.moved = ["w.grad"]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// The part of another sum, of the same type.
comm.mesh @mesh [pp = 2]
// expected-note @below {{this is sent}}
func.func @f(%x: tensor<4xf32> {tg.input = "v.grad.stage1"}) attributes {comm.program = #comm.program<@mesh>} {
  // expected-error @below {{moves "w.grad" by its attributes and facts, but sends "v.grad.stage1"}}
  %a = comm.all_reduce sum %x over @mesh {pp} {comm.moved = ["w.grad"]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
