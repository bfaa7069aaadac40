//===- Chunks.td - collectives beside their own contractions ---*- tablegen -*-===//
#ifndef BRAID_PASSES_COLLECTIVES_CHUNKS
#define BRAID_PASSES_COLLECTIVES_CHUNKS

include "mlir/Pass/PassBase.td"

def ChunkContractionsPass : Pass<"comm-chunk-contractions", "::mlir::func::FuncOp"> {
  let summary = "Splits collectives and adjacent contractions into chunks that overlap";
  let description = [{
    A collective waits for the whole contraction that makes its operand, and a contraction waits for its whole
    operands. Rows are independent in both, so this pass computes and sends them in chunks (Wang et al. 2023,
    "Overlap Communication with Dependent Computation via Decomposition"; Jangda et al. 2022, "Breaking the
    Computation and Communication Abstraction Barrier"). While one chunk is in flight, the program computes another;
    comm-overlap arranges this.

    - Behind contractions: the ops that make the sent value are computed in chunks, back to the contractions. Ops in
      between, such as a sum of several contractions or a conversion, must have no other readers.
    - Before contractions: readers of the received value are computed in chunks, too, if they are contractions or
      conversions of the same unit and phase. So are elementwise ops on their results, such as a bias and an activation.

    The row dim is the first dim of the sent value with more than one index. The rules of all ops must keep its
    indices independent, and it must be the outermost dim of all their tensors. Then a chunk is one range of memory.
    `tg.concat` joins chunks for all other readers (gradients of weights, attention) without a copy, because each
    chunk is written in its place.

    A gather or a reduce_scatter may cut this dim by ranks, for example where ranks share the positions of one
    sequence. Then a chunk has a part of each rank's block: a rank sends a part of its own block, and blocks become
    a dim before the rows. Contractions read and write such parts in place. If a received value has other readers,
    too, its parts are copied together, and the prediction counts this. Elementwise ops are split only if their
    operands have no other readers.

    A collective is split into `chunks` parts, or by default into 2, 4 or 8, whichever has the least predicted time. It
    is split only if that saves 1% of the time of collective and contractions together. The prediction has one clock for
    contractions and one for the link. Each chunk costs the latency of a message, a launch for each call and for an
    activation, and another read of the weights from memory. With and without chunks, contractions hide the collective
    if they run meanwhile anyway or if comm-fill-waits can move them there. A remark for each program gives the number
    of split collectives and the saving, and the number of others and the reasons. It is a warning if `chunks` is given
    and no collective of a program that trains is split.

    Collectives of gradients, new parameters and single numbers are left to comm-bucket, and so are collectives over
    other axes. The sent bytes stay the same. No comm-simplify and no CSE may run after this pass. Functions without
    `comm.program` are left alone.

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
    ListOption<"axes", "axes", "std::string", "Axes whose collectives are split; empty: no collective is split">,
    Option<"chunks", "chunks", "::braid::Integer<0, 1024>", /*default=*/"0",
           "Number of chunks; 0: the fastest of 2, 4 and 8 by predicted time">,
    Option<"inOrder", "in-order", "bool", /*default=*/"false",
           "Predict times for the given order of computation, as without comm-fill-waits">,
  ];
  let dependentDialects = ["::braid::comm::CommDialect", "::braid::tg::TGDialect", "::mlir::arith::ArithDialect"];
}

#endif // BRAID_PASSES_COLLECTIVES_CHUNKS
