//===- Collectives.td - passes over collectives ----------------*- tablegen -*-===//
//
// All work on programs of ranks and can run in any order; comm-verify-order
// comes last.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_PARALLEL_COLLECTIVES
#define BRAID_PASSES_PARALLEL_COLLECTIVES

include "mlir/Pass/PassBase.td"

def VerifyOrder : Pass<"comm-verify-order", "::mlir::ModuleOp"> {
  let summary = "Checks that no rank waits for ever and that ranks that meet agree";
  let description = [{
    A rank computes and has one queue: a thread communicates in the order of the
    starts (a collective outside comm.start is a start with its wait).  The head of
    the queue ends when all ranks of its group have come to it, or for send and recv
    when the two have met.  A function with `comm.program` for all ranks is a program
    by itself; functions for coordinates along an axis of one mesh are one program
    together, in which every rank has one function.  Programs in memory form
    (exec.program with the same attribute) are checked likewise.

    The pass simulates the ranks to their end.  Ranks that a symmetry of the mesh
    maps onto each other are in the same state, and one stands for all: an SPMD
    program is one rank, a pipeline of data parallel stages one rank a stage.

    Refused are ranks that wait for one another, a send or collective that the other
    side has no match for, ranks that meet with another op, reduction, root, dims,
    pairs or tensors, ranks with two functions or none, and tickets that are not
    waited for exactly once.  In memory form an action between start and wait must
    not write bytes that the collective sends nor touch bytes that it receives.

    Leaves:
    ```mlir
    comm.mesh @mesh [dp = 128, tp = 8]
    func.func @f(%x: tensor<4xf32>, %w: tensor<2x4xf32>) -> (tensor<4xf32>, tensor<16x4xf32>)
        attributes {comm.program = #comm.program<@mesh>} {
      %t = comm.start {
        %g = comm.all_gather %w dims [0] over @mesh {tp} : (tensor<2x4xf32>) -> tensor<16x4xf32>
      } : !comm.ticket<tensor<16x4xf32>>
      %y = comm.all_reduce sum %x over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
      %full = comm.wait %t : !comm.ticket<tensor<16x4xf32>> -> tensor<16x4xf32>
      return %y, %full : tensor<4xf32>, tensor<16x4xf32>
    }
    ```

    Two stages, which meet in the order of the sends; the second has data parallel
    ranks of its own to reduce over.

    Leaves:
    ```mlir
    comm.mesh @mesh [pp = 2, dp = 4]
    func.func @first(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
      %t = comm.start {
        comm.send %x to 1 over @mesh {pp} : (tensor<4xf32>) -> ()
      } : !comm.ticket<>
      comm.wait %t : !comm.ticket<>
      return
    }
    func.func @second() -> tensor<4xf32> attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
      %x = comm.recv from 0 over @mesh {pp} : () -> tensor<4xf32>
      %y = comm.all_reduce sum %x over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }
    ```
  }];
}

#endif // BRAID_PASSES_PARALLEL_COLLECTIVES
