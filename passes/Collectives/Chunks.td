//===- Chunks.td - collectives beside their own contractions ---*- tablegen -*-===//
#ifndef BRAID_PASSES_COLLECTIVES_CHUNKS
#define BRAID_PASSES_COLLECTIVES_CHUNKS

include "mlir/Pass/PassBase.td"

def ChunkContractionsPass : Pass<"comm-chunk-contractions", "::mlir::func::FuncOp"> {
  let summary = "Splits collectives and the contractions beside them in chunks that overlap";
  let description = [{
    A collective waits for all of the contraction that makes what it sends, and contractions wait for all
    of what they read.  Rows are apart in both, so this pass computes and sends them in chunks (Wang et al. 2023,
    "Overlap Communication with Dependent Computation via Decomposition"; Jangda et al. 2022, "Breaking the
    Computation and Communication Abstraction Barrier"): while a chunk is under way the next one is computed, or
    while one is computed the next is under way, which comm-overlap sees to.

    - Behind contractions: what makes the sent value is computed in chunks, back to the contractions,
      as far as nothing else reads what is between: a sum of several contractions, a conversion.
    - Before contractions: so is what reads the received value, if it is a contraction or a conversion
      of the same unit and phase, and what is computed of these element by element, such as a bias and an activation.

    Rows are the first dim with more than one index of what is sent, if the rules of all ops keep its
    indices apart, and it is the outermost of all their tensors.  Then a chunk is one range of
    memory, and `tg.concat`, which joins chunks for all other readers (gradients of weights, attention), is no copy:
    each is written where it belongs.

    Where a gather or a reduce_scatter cuts this dim by ranks, as where they share the positions of one sequence, a
    chunk has a part of each rank's block: a rank sends a part of its own, and blocks become the dim before.
    Contractions read and write such parts where they are.  What is received for other readers
    as well is copied together, which counts, and what is computed element by element goes along only where nothing
    else reads what it is computed of.

    A collective is split in `chunks`, or of 2, 4 and 8 in what is predicted to take least, and only where that
    saves a percent of what both take as one.  There is a clock of the contractions and one of the link; each
    chunk costs the latency of a message, a launch for each call and for an activation, and the weights from memory
    once more; contractions that are computed meanwhile anyway, or that comm-fill-waits can put there, hide the
    collective in both cases.  A remark
    for each program says how many were split and what that saves, and how many were not and why; it is a
    warning where `chunks` is given and a program that trains has none.

    Collectives of gradients, new parameters and single numbers are left to comm-bucket, and so are those
    over other axes.  The bytes that are sent are the same.  No comm-simplify and no CSE may run after this pass.
    Functions without `comm.program` are left alone.

    Input (`axes=tp chunks=2`):
    ```mlir
    module attributes {exec.machine = #exec.machine<compute = [1.0, 100.0], link = [1.0, 0.1]>} {
      comm.mesh @mesh [tp = 2]
      func.func @f(%x: tensor<64x32xf32>, %w: tensor<32x16xf32>) -> tensor<64x16xf32> attributes {comm.program = #comm.program<@mesh>} {
        %part = tg.contract "bf,fd->bd" %x, %w : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
        %y = comm.all_reduce sum %part over @mesh {tp} : (tensor<64x16xf32>) -> tensor<64x16xf32>
        return %y : tensor<64x16xf32>
      }
    }
    ```
    Output:
    ```mlir
    module attributes {exec.machine = #exec.machine<compute = [1.0, 100.0], link = [1.0, 0.1]>} {
      comm.mesh @mesh [tp = 2]
      func.func @f(%x: tensor<64x32xf32>, %w: tensor<32x16xf32>) -> tensor<64x16xf32> attributes {comm.program = #comm.program<@mesh>} {
        %x0 = tg.slice %x dim 0 offset 0 size 32 : tensor<64x32xf32> -> tensor<32x32xf32>
        %part0 = tg.contract "bf,fd->bd" %x0, %w : (tensor<32x32xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
        %y0 = comm.all_reduce sum %part0 over @mesh {tp} : (tensor<32x16xf32>) -> tensor<32x16xf32>
        %x1 = tg.slice %x dim 0 offset 32 size 32 : tensor<64x32xf32> -> tensor<32x32xf32>
        %part1 = tg.contract "bf,fd->bd" %x1, %w : (tensor<32x32xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
        %y1 = comm.all_reduce sum %part1 over @mesh {tp} : (tensor<32x16xf32>) -> tensor<32x16xf32>
        %y = tg.concat %y0, %y1 dim 0 : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
        return %y : tensor<64x16xf32>
      }
    }
    ```
  }];
  let options = [
    ListOption<"axes", "axes", "std::string", "The axes whose collectives are split; none: nothing is">,
    Option<"chunks", "chunks", "::braid::Integer<0, 1024>", /*default=*/"0",
           "How many chunks; 0: of 2, 4 and 8 the number that is predicted to take least">,
    Option<"inOrder", "in-order", "bool", /*default=*/"false",
           "Whether computing keeps its order, and comm-fill-waits hides nothing">,
  ];
  let dependentDialects = ["::braid::comm::CommDialect", "::braid::tg::TGDialect", "::mlir::arith::ArithDialect"];
}

#endif // BRAID_PASSES_COLLECTIVES_CHUNKS
