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
    waited for exactly once.  That nobody touches the bytes of a collective under
    way is checked where bytes are, by exec-verify-plan.

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

def CommSimplifyPass : Pass<"comm-simplify", "::mlir::func::FuncOp"> {
  let summary = "Replaces collectives of a rank's program by fewer and smaller ones";
  let description = [{
    The partitioner inserts plain steps: reduce what is partial, gather what must be
    whole, take the own block.  This pass finds steps that undo or complete each
    other.  Rules, each applied wherever it holds:

    - Equal ops are one; what nothing reads goes.
    - An axis of size 1 leaves every list; a group of one rank sends nothing.
    - all_reduce of what all ranks hold multiplies by their number (sum) or does
      nothing (mean, max, min); reduce_scatter of it is a slice, broadcast nothing.
    - A slice of an all_gather over the same axes undoes it along the same dim and
      makes it an all_to_all along another.  Over other axes along another dim the
      slice goes first.
    - A slice of an all_reduce makes it a reduce_scatter over the axes they share and
      an all_reduce of the block over the others.
    - reduce_scatter and all_gather of its result are an all_reduce.
    - all_reduce of all_reduce, all_gather of all_gather, reduce_scatter of
      reduce_scatter and slice of slice are one, over both lists of axes.
    - Results of two all_reduces (two reduce_scatters) that are added or subtracted
      are reduced after it.
    - A slice of a splat constant is a constant.
    - What is narrowed is narrowed before an all_gather, what is widened is widened
      after it.

    A rule that would compute or send a value twice is applied only where nothing
    else reads it.  Between start and wait nothing changes, nor where the other side
    of a collective is in another function.  Floats are added in another order where
    a reduction splits or merges.

    Input:
    ```mlir
    comm.mesh @mesh [dp = 2, tp = 4]
    func.func @f(%x: tensor<8x4xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {dp, tp}>}) -> tensor<2x4xf32>
        attributes {comm.program = #comm.program<@mesh>} {
      %y = comm.all_reduce sum %x over @mesh {dp, tp} : (tensor<8x4xf32>) -> tensor<8x4xf32>
      %b = comm.slice %y dim 0 over @mesh {tp} : tensor<8x4xf32> -> tensor<2x4xf32>
      return %b : tensor<2x4xf32>
    }
    ```

    Output:
    ```mlir
    comm.mesh @mesh [dp = 2, tp = 4]
    func.func @f(%x: tensor<8x4xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {dp, tp}>}) -> tensor<2x4xf32>
        attributes {comm.program = #comm.program<@mesh>} {
      %b = comm.reduce_scatter sum %x dims [0] over @mesh {tp} : (tensor<8x4xf32>) -> tensor<2x4xf32>
      %y = comm.all_reduce sum %b over @mesh {dp} : (tensor<2x4xf32>) -> tensor<2x4xf32>
      return %y : tensor<2x4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::braid::tg::TGDialect"];
}

def CommDecomposePass : Pass<"comm-decompose", "::mlir::func::FuncOp"> {
  let summary = "Makes collectives of a rank's program from transfers between pairs of ranks";
  let description = [{
    A group of n ranks and a tensor of K elements:

    | algorithm | all_reduce | others |
    |---|---|---|
    | ring | 2(n-1) permutes of ceil(K/n), each to the next rank | all_gather, reduce_scatter: n-1 |
    | direct | 2(n-1) permutes of ceil(K/n), each to its last place | all_gather, reduce_scatter, all_to_all: n-1 |
    | tree | 2 ceil(log2 n) permutes of K | broadcast: ceil(log2 n) |
    | hierarchical | over {a, b}: reduce_scatter over b, all_reduce of 1/nb over a, all_gather over b | one axis at a time |

    Blocks are cut along dim 0 where n divides it and else in the flat order, whose
    last block is padded.  A mean is a sum that is divided once.  Buckets come apart
    into tensors.  `hierarchical` makes smaller collectives over single axes, which
    another run may decompose in its turn, and leaves groups over one axis alone.

    A result has the same bits on all ranks and in every run; but ring, direct and
    tree add in their own orders and not in that of ranks, so floats agree with the
    plain op's up to rounding.  What an algorithm has no way for stays, with a remark.

    Input (`algorithm=ring`):
    ```mlir
    comm.mesh @mesh [dp = 2]
    func.func @f(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {dp}>}) -> tensor<4xf32>
        attributes {comm.program = #comm.program<@mesh>} {
      %y = comm.all_reduce sum %x over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }
    ```

    Output:
    ```mlir
    comm.mesh @mesh [dp = 2]
    func.func @f(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {dp}>}) -> tensor<4xf32>
        attributes {comm.program = #comm.program<@mesh>} {
      %0 = comm.slice %x dim 0 shift 1 over @mesh {dp} : tensor<4xf32> -> tensor<2xf32>
      %1 = comm.permute %0 pairs [0 -> 1, 1 -> 0] over @mesh {dp} : (tensor<2xf32>) -> tensor<2xf32>
      %2 = comm.slice %x dim 0 over @mesh {dp} : tensor<4xf32> -> tensor<2xf32>
      %3 = arith.addf %1, %2 : tensor<2xf32>
      %4 = comm.permute %3 pairs [0 -> 1, 1 -> 0] over @mesh {dp} : (tensor<2xf32>) -> tensor<2xf32>
      %5 = comm.assemble %3, %4 dim 0 shifts [0, 1] over @mesh {dp} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
      return %5 : tensor<4xf32>
    }
    ```
  }];
  let options = [Option<"algorithm", "algorithm", "std::string", "\"ring\"",
                        "How: ring, tree, direct or hierarchical">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::braid::tg::TGDialect"];
}

def PrintTrafficPass : Pass<"comm-print-traffic", "::mlir::func::FuncOp"> {
  let summary = "Say as remarks what each collective and the function send";
  let description = [{
    Bytes that a rank sends in the best known algorithm for a group of this size, as
    in `comm.all_reduce over {dp}: 4 ranks, 96 bytes sent`.  The function's remark has
    the total and that of every list of axes.

    Leaves:
    ```mlir
    comm.mesh @mesh [dp = 4]
    func.func @f(%x: tensor<16xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {dp}>}) -> tensor<16xf32>
        attributes {comm.program = #comm.program<@mesh>} {
      %y = comm.all_reduce sum %x over @mesh {dp} : (tensor<16xf32>) -> tensor<16xf32>
      return %y : tensor<16xf32>
    }
    ```
  }];
}

#endif // BRAID_PASSES_PARALLEL_COLLECTIVES
