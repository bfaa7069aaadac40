// Ranks that wait for each other are an error that says who waits for what.
//
// RUN: split-file %s %t
// RUN: not braid-interp %t/order.mlir 2>&1 | FileCheck %t/order.mlir
// RUN: not braid-interp %t/axes.mlir 2>&1 | FileCheck %t/axes.mlir
// RUN: not braid-interp %t/finished.mlir 2>&1 | FileCheck %t/finished.mlir
// RUN: not braid-interp %t/receive.mlir 2>&1 | FileCheck %t/receive.mlir
// RUN: not braid-interp %t/chain.mlir 2>&1 | FileCheck %t/chain.mlir
// RUN: not braid-interp %t/queue.mlir 2>&1 | FileCheck %t/queue.mlir

//--- order.mlir
// CHECK: order.mlir:[[@LINE+7]]:8: error: rank 0 waits for all_reduce #1 while rank 1 is at barrier #1
// CHECK: order.mlir:[[@LINE+13]]:3: note: rank 1 waits for barrier #1 while rank 0 is at all_reduce #1
comm.mesh @mesh [r = 2]
func.func @zero() attributes {comm.program = #comm.program<@mesh, r = [0]>} {
  %x = arith.constant dense<1.0> : tensor<2xf32>
  comm.barrier over @mesh {r} : () -> ()

  %y = comm.all_reduce sum %x over @mesh {r} : (tensor<2xf32>) -> tensor<2xf32>
  comm.barrier over @mesh {r} : () -> ()
  return
}
func.func @one() attributes {comm.program = #comm.program<@mesh, r = [1]>} {
  %x = arith.constant dense<1.0> : tensor<2xf32>
  comm.barrier over @mesh {r} : () -> ()
  comm.barrier over @mesh {r} : () -> ()
  %y = comm.all_reduce sum %x over @mesh {r} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

//--- axes.mlir
// The same ranks in another order are another communicator.
// CHECK: error: rank 0 waits for barrier #0 over {a, b} while rank 2 is at barrier #0 over {b, a}
comm.mesh @mesh [a = 2, b = 2]
func.func @zero() attributes {comm.program = #comm.program<@mesh, a = [0]>} {
  comm.barrier over @mesh {a, b} : () -> ()
  return
}
func.func @one() attributes {comm.program = #comm.program<@mesh, a = [1]>} {
  comm.barrier over @mesh {b, a} : () -> ()
  return
}

//--- finished.mlir
// CHECK: error: rank 1 waits for barrier #0 while rank 0 has finished
comm.mesh @mesh [r = 2]
func.func @zero() attributes {comm.program = #comm.program<@mesh, r = [0]>} {
  return
}
func.func @one() attributes {comm.program = #comm.program<@mesh, r = [1]>} {
  comm.barrier over @mesh {r} : () -> ()
  return
}

//--- receive.mlir
// Both receive first.
// CHECK: error: rank 0 waits for recv #0 over {r} while rank 1 is at recv #0 over {r}
// CHECK: note: rank 1 waits for recv #0 over {r} while rank 0 is at recv #0 over {r}
comm.mesh @mesh [r = 2]
func.func @zero() attributes {comm.program = #comm.program<@mesh, r = [0]>} {
  %x = comm.recv from 1 over @mesh {r} : () -> tensor<2xf32>
  comm.send %x to 1 over @mesh {r} : (tensor<2xf32>) -> ()
  return
}
func.func @one() attributes {comm.program = #comm.program<@mesh, r = [1]>} {
  %x = comm.recv from 0 over @mesh {r} : () -> tensor<2xf32>
  comm.send %x to 0 over @mesh {r} : (tensor<2xf32>) -> ()
  return
}

//--- chain.mlir
// Rank 0 waits for rank 1, which waits for rank 2, which has finished: the last
// is the cause.
// CHECK-NOT: rank 0
// CHECK: error: rank 1 waits for recv #0 while rank 2 has finished
// CHECK-NOT: rank 0
comm.mesh @mesh [r = 3]
func.func @zero() attributes {comm.program = #comm.program<@mesh, r = [0]>} {
  %x = comm.recv from 1 over @mesh {r} : () -> tensor<2xf32>
  return
}
func.func @one() attributes {comm.program = #comm.program<@mesh, r = [1]>} {
  %x = comm.recv from 2 over @mesh {r} : () -> tensor<2xf32>
  comm.send %x to 0 over @mesh {r} : (tensor<2xf32>) -> ()
  return
}
func.func @two() attributes {comm.program = #comm.program<@mesh, r = [2]>} {
  return
}

//--- queue.mlir
// A started recv is at the head of the queue until it is done: the send behind
// it never leaves.
// CHECK: error: rank 0 waits for recv #0 over {r} while rank 1 is at recv #0 over {r}
comm.mesh @mesh [r = 2]
func.func @zero() attributes {comm.program = #comm.program<@mesh, r = [0]>} {
  %x = arith.constant dense<1.0> : tensor<2xf32>
  %t = comm.start {
    %r = comm.recv from 1 over @mesh {r} : () -> tensor<2xf32>
  } : !comm.ticket<tensor<2xf32>>
  comm.send %x to 1 over @mesh {r} : (tensor<2xf32>) -> ()
  %y = comm.wait %t : !comm.ticket<tensor<2xf32>> -> tensor<2xf32>
  return
}
func.func @one() attributes {comm.program = #comm.program<@mesh, r = [1]>} {
  %x = comm.recv from 0 over @mesh {r} : () -> tensor<2xf32>
  comm.send %x to 0 over @mesh {r} : (tensor<2xf32>) -> ()
  return
}
