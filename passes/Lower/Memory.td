//===- Memory.td - memory planning ---------------------------*- tablegen -*-===//
//
// The memory plan, and two verifiers that are independent of the planner.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_LOWER_MEMORY
#define BRAID_PASSES_LOWER_MEMORY

include "mlir/Pass/PassBase.td"

def FormPacksPass : Pass<"exec-form-packs", "::mlir::ModuleOp"> {
  let summary = "Places parameters side by side that programs read as one tensor";
  let description = [{
    Where a program concatenates parameters along dim 0, as `tg-merge-contractions` does with
    weights, these can lie side by side in the arena, in the order of arguments: their
    arguments get an `exec.pack`, a name, and the concatenation is the memory that they are
    in.  Nothing else changes: each parameter keeps its name, its states and its place in
    checkpoints.

    Left alone, and copied: parameters of which a rank holds a part, that are not in the order
    of arguments, that do not end at a multiple of the target's alignment, that lie beside others
    already, or that another program has in another order.

    Input:
    ```mlir
    func.func @f(%a: tensor<16xf32> {tg.param = #tg.param<"q.weight", #tg.init<ones>>},
                 %b: tensor<32xf32> {tg.param = #tg.param<"k.weight", #tg.init<ones>>}) -> tensor<48xf32> {
      %0 = exec.concat %a, %b dim 0 : (tensor<16xf32>, tensor<32xf32>) -> tensor<48xf32>
      return %0 : tensor<48xf32>
    }
    ```
    Output:
    ```mlir
    func.func @f(%a: tensor<16xf32> {exec.pack = "{q,k}.weight", tg.param = #tg.param<"q.weight", #tg.init<ones>>},
                 %b: tensor<32xf32> {exec.pack = "{q,k}.weight", tg.param = #tg.param<"k.weight", #tg.init<ones>>}) -> tensor<48xf32> {
      %0 = exec.concat %a, %b dim 0 : (tensor<16xf32>, tensor<32xf32>) -> tensor<48xf32>
      return %0 : tensor<48xf32>
    }
    ```
  }];
}

def PlanMemory : Pass<"exec-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Assigns every value of the programs to memory in the arena";
  let description = [{
    The only bufferizer.  Every function of the module is a program on values
    (actions, `exec.view`, `exec.concat`); every one becomes an `exec.program` in
    memory form, and the parameters and states of all of them become
    `exec.tensor`s, which come first in the arena.

    *Aliasing.*  A view is its source with other strides and costs nothing.  The
    operands of a concat are written into its slices, an accumulator is summed in
    place, a result overwrites an operand at its last use, and the new value of a
    parameter (`tg.updates`) overwrites the old one after its last read.  Where two
    values must alias but cannot, a kernel `copy` is inserted.

    *Offsets.*  Buffers get offsets so that those that live at the same time do
    not overlap; the answer is checked by a verifier of its own.  The scratch
    memory of library calls is one buffer, right after the persistent tensors,
    at the same offset in all programs.

    *Leading-dimension padding.*  On a target with a row alignment, rows of a transient
    tensor whose size is no multiple of 16 bytes are padded so that each row begins
    aligned, if the padding is at most a sixteenth of the rows and if all actions that
    write or read the tensor process it by rows and accept strides.  Padding never causes
    a copy and never prevents a result from being written over an operand: either both
    are padded, or neither is.  The padding is part of the buffer, and its `padding`
    attribute is the number of bytes; only matmuls read or write them (`exec-pad-matmuls`).
    For those, a weight that gives the columns of a padded result gets as many rows of zeros
    behind it: its `bytes` are more than those of its values.

    *Categories.*  Of transient buffers: `inputs`, `workspace`, `gathered` (parameters
    that a collective makes whole), `activations` (written by an action that the
    loss or another result with a role depends on; in a program without such
    results, that a scalar result depends on; everything in a program that updates
    nothing), `buckets` (of the rest, what a collective combines several tensors
    into), else `gradients`.

    *Collectives.*  They read and write contiguous memory: a strided operand is
    copied first, and the copy's name in reports says so.  The tensors of a bucket
    stay each in its own place.  A collective in a `comm.start` has its operands
    live and unwritten, and its results' memory to itself, until the wait.
    `comm.program`, and `comm.sharding` and `comm.global` of arguments and results,
    stay on the program, tensors and buffers.  A `comm.slice` or `comm.assemble`
    along a dim reads and writes rows where they are; along the flat order it is
    contiguous like a collective.

    *Reads.*  References no longer say which value they were.  `exec.reads` on a program
    says it for each operand, from uses and definitions of the program on values
    (`dialects/Exec/ValueReads.h`).  `exec-verify-plan` compares and removes it.

    Input:
    ```mlir
    #id = affine_map<(d0) -> (d0)>
    func.func @train(%w: tensor<8xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>},
                     %x: tensor<8xf32> {tg.input = "x"}) -> (tensor<8xf32> {tg.updates = "w"}) {
      %0 = exec.kernel "addf"(%w, %x) space [8] : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
      ^bb0(%ka: tensor<8xf32>, %kb: tensor<8xf32>):
        %empty = tensor.empty() : tensor<8xf32>
        %kc = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
            ins(%ka, %kb : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) attrs = {exec.dims = array<i64: 0>} {
        ^bb0(%a: f32, %b: f32, %out: f32):
          %sum = arith.addf %a, %b : f32
          linalg.yield %sum : f32
        } -> tensor<8xf32>
        exec.yield %kc : tensor<8xf32>
      }
      return %0 : tensor<8xf32>
    }
    ```
    Output:
    ```mlir
    #id = affine_map<(d0) -> (d0)>
    exec.tensor @w at 0 bytes 32 category parameters : tensor<8xf32> = #tg.param<"w", #tg.init<zeros>>
    exec.program @train arena 128 attributes {exec.reads = {
        actions = [array<i64: 1, 8, 1, -1, 0, 0, 1, 8, 1, -1, 1, 0>], arguments = ["w", ""],
        results = array<i64: 1, 8, 1, 0, 0, 0>, updates = ["w"]}} {
      exec.buffer @b0 at 64 bytes 32 live -1 to 0 category inputs name "x" "input" role "" : tensor<8xf32>
      %w = exec.ref @w + 0 : !exec.ref<8xf32, [1]>
      %x = exec.ref @b0 + 0 : !exec.ref<8xf32, [1]>
      exec.kernel "addf"(%w, %x) outs(%w : !exec.ref<8xf32, [1]>) space [8] : (!exec.ref<8xf32, [1]>, !exec.ref<8xf32, [1]>) -> () {
      ^bb0(%ka: tensor<8xf32>, %kb: tensor<8xf32>):
        %empty = tensor.empty() : tensor<8xf32>
        %kc = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
            ins(%ka, %kb : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) attrs = {exec.dims = array<i64: 0>} {
        ^bb0(%a: f32, %b: f32, %out: f32):
          %sum = arith.addf %a, %b : f32
          linalg.yield %sum : f32
        } -> tensor<8xf32>
        exec.yield %kc : tensor<8xf32>
      }
    }
    ```
    The sum is written over `w`, which no one else reads.  The first operand has one dim of 8 and one
    source, argument 0 (`-1, 0`), and is no view of it; the new value of `w` is result 0 of action 0.
  }];
  let options = [
    Option<"memoryLimit", "memory-limit", "std::string", "\"\"",
           "An arena larger than this is an error: bytes, or with a unit (512MiB, 2G); empty for no limit">,
    Option<"rowAlignment", "row-alignment", "::braid::Integer<-1, 1048576>", "-1",
           "Pad rows of transient tensors to multiples of this many bytes where the padding is small; "
           "0: never; -1: the target's row alignment">,
  ];
  let dependentDialects = ["exec::ExecDialect"];
}

def PadMatmulsPass : Pass<"exec-pad-matmuls", "::mlir::ModuleOp"> {
  let summary = "Matmuls compute and contract padded rows as a whole";
  let description = [{
    GEMM libraries have their fastest kernels for sizes that are multiples of 16 bytes.  The
    planner pads rows of logits, and leaves room for as many rows of zeros behind a weight
    that gives their columns (`exec-plan-memory`).  A matmul that writes such rows then
    computes their padding, too: products with zeros, which are zeros.  A matmul that contracts
    rows whose padding was written like this, with a weight that has zeros behind it, contracts
    the padding as well.  All other actions leave the padding alone, so nothing that
    a program computes changes, but for products with zeros.

    Left alone are matmuls with an epilogue, an accumulator or a second result, which have as
    many columns as the result; weights that are no persistent tensors, such as those that a
    rank gathers; and slices of rows.

    Input:
    ```mlir
    exec.tensor @w at 0 bytes 1024 category parameters : tensor<30x8xf32> = #tg.param<"w", #tg.init<zeros>>
    exec.program @eval arena 1408 {
      exec.buffer @x at 1024 bytes 64 live -1 to 0 category inputs name "x" "input" role "" : tensor<2x8xf32>
      exec.buffer @l at 1088 bytes 256 live 0 to 1 category activations name "logits" padding 16
      exec.buffer @y at 1344 bytes 64 live 1 to 2 category activations name "y" "result" role "y" : tensor<2x8xf32>
      %x = exec.ref @x + 0 : !exec.ref<2x8xf32, [8, 1]>
      %w = exec.ref @w + 0 : !exec.ref<30x8xf32, [8, 1]>
      %l = exec.ref @l + 0 : !exec.ref<2x30xf32, [32, 1]>
      %y = exec.ref @y + 0 : !exec.ref<2x8xf32, [8, 1]>
      exec.matmul "bd,vd->bv"(%x, %w) outs(%l : !exec.ref<2x30xf32, [32, 1]>) : !exec.ref<2x8xf32, [8, 1]>, !exec.ref<30x8xf32, [8, 1]>
      exec.matmul "bv,vd->bd"(%l, %w) outs(%y : !exec.ref<2x8xf32, [8, 1]>) : !exec.ref<2x30xf32, [32, 1]>, !exec.ref<30x8xf32, [8, 1]>
    }
    ```
    Output:
    ```mlir
    exec.tensor @w at 0 bytes 1024 category parameters : tensor<30x8xf32> = #tg.param<"w", #tg.init<zeros>>
    exec.program @eval arena 1408 {
      exec.buffer @x at 1024 bytes 64 live -1 to 0 category inputs name "x" "input" role "" : tensor<2x8xf32>
      exec.buffer @l at 1088 bytes 256 live 0 to 1 category activations name "logits" padding 16
      exec.buffer @y at 1344 bytes 64 live 1 to 2 category activations name "y" "result" role "y" : tensor<2x8xf32>
      %x = exec.ref @x + 0 : !exec.ref<2x8xf32, [8, 1]>
      %w = exec.ref @w + 0 : !exec.ref<32x8xf32, [8, 1]>
      %l = exec.ref @l + 0 : !exec.ref<2x32xf32, [32, 1]>
      %y = exec.ref @y + 0 : !exec.ref<2x8xf32, [8, 1]>
      exec.matmul "bd,vd->bv"(%x, %w) outs(%l : !exec.ref<2x32xf32, [32, 1]>) : !exec.ref<2x8xf32, [8, 1]>, !exec.ref<32x8xf32, [8, 1]>
      exec.matmul "bv,vd->bd"(%l, %w) outs(%y : !exec.ref<2x8xf32, [8, 1]>) : !exec.ref<2x32xf32, [32, 1]>, !exec.ref<32x8xf32, [8, 1]>
    }
    ```
  }];
  let dependentDialects = ["exec::ExecDialect"];
}

def VerifyMemoryPass : Pass<"exec-verify-memory"> {
  let summary = "Fails if a tensor is left outside kernel bodies";
  let description = [{
    The boundary between planning and translation: every value of a program is a
    reference into the arena.  Changes nothing.

    Leaves:
    ```mlir
    exec.tensor @w at 0 bytes 512 category parameters : tensor<16x8xf32> = #tg.param<"w", #tg.init<zeros>>
    exec.program @eval arena 8389504 {
      exec.buffer @workspace at 512 bytes 8388608 live 0 to 0 category workspace name "workspace" scratch
      exec.buffer @x at 8389120 bytes 128 live -1 to 0 category inputs name "x" "input" role "" : tensor<4x8xf32>
      exec.buffer @y at 8389248 bytes 256 live 0 to 1 category activations name "y" "result" role "y" : tensor<4x16xf32>
      %x = exec.ref @x + 0 : !exec.ref<4x8xf32, [8, 1]>
      %w = exec.ref @w + 0 : !exec.ref<16x8xf32, [8, 1]>
      %y = exec.ref @y + 0 : !exec.ref<4x16xf32, [16, 1]>
      exec.matmul "bd,fd->bf"(%x, %w) outs(%y : !exec.ref<4x16xf32, [16, 1]>) : !exec.ref<4x8xf32, [8, 1]>, !exec.ref<16x8xf32, [8, 1]>
    }
    ```
  }];
}

def VerifyPlan : Pass<"exec-verify-plan", "::mlir::ModuleOp"> {
  let summary = "Checks a module in memory form";
  let description = [{
    Knows nothing of how the plan was made.  Checks that persistent tensors and
    buffers lie aligned in the arena, that those which live at the same time do
    not overlap, that every reference is inside its buffer and every access
    inside the buffer's life, that an action
    writes over its own operands only where it said that it may and gets contiguous
    references where it takes no others, and that between a `comm.start` and its
    wait nothing writes what the collective reads or touches what it writes.

    *Values.*  The pass follows every byte from its write to its reads
    (`WriteTracker.h`).  Every byte read was written before: inputs and persistent
    tensors are at the start, results must be at the end.  Where `exec.reads` says what
    each operand is (`exec-plan-memory`), the last write of each of its bytes is one of
    the operand's own, its first and last elements lie where they were written, results
    hold what the program returns, and persistent tensors that it does not update keep their
    values.  No action writes within a buffer over what another wrote there and nobody has
    read.  Four cases are allowed: an accumulator that its action reads; a result that nothing
    reads (known from `exec.reads`); zeros in the padding of rows that a matmul reads; and bytes
    of another buffer whose life has ended.

    Removes `exec.reads`, and changes nothing else.

    Leaves:
    ```mlir
    exec.tensor @w at 0 bytes 512 category parameters : tensor<16x8xf32> = #tg.param<"w", #tg.init<zeros>>
    exec.program @eval arena 8389504 {
      exec.buffer @workspace at 512 bytes 8388608 live 0 to 0 category workspace name "workspace" scratch
      exec.buffer @x at 8389120 bytes 128 live -1 to 0 category inputs name "x" "input" role "" : tensor<4x8xf32>
      exec.buffer @y at 8389248 bytes 256 live 0 to 1 category activations name "y" "result" role "y" : tensor<4x16xf32>
      %x = exec.ref @x + 0 : !exec.ref<4x8xf32, [8, 1]>
      %w = exec.ref @w + 0 : !exec.ref<16x8xf32, [8, 1]>
      %y = exec.ref @y + 0 : !exec.ref<4x16xf32, [16, 1]>
      exec.matmul "bd,fd->bf"(%x, %w) outs(%y : !exec.ref<4x16xf32, [16, 1]>) : !exec.ref<4x8xf32, [8, 1]>, !exec.ref<16x8xf32, [8, 1]>
    }
    ```
  }];
}

#endif // BRAID_PASSES_LOWER_MEMORY
