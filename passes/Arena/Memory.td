//===- Memory.td - places of tensors in memory -------------*- tablegen -*-===//
//
// Buffers that calls pack together, the offset of each tensor in the arena, and padded operands of matmuls.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_ARENA_MEMORY
#define BRAID_PASSES_ARENA_MEMORY

include "passes/Base/Flag.td"

def FormPacksPass : Pass<"exec-form-packs", "::mlir::ModuleOp"> {
  let summary = "Places parameters side by side if programs read them as one tensor";
  let description = [{
    Parameters that a program concatenates along dim 0, as `tg-merge-contractions` does with weights, can lie side
    by side in the arena, in the order of arguments. Their arguments get an `exec.pack`, a name, and the
    concatenation becomes their memory. Nothing else changes: each parameter keeps its name, its states and its
    place in checkpoints.

    A concatenation stays a copy if a rank holds only a part of one of the parameters, if they are not in the order
    of arguments, if one does not end at a multiple of the target's alignment, if one already lies beside others, or
    if another program has them in another order.

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
    The only bufferizer. Every function of the module is a program on values (actions, `exec.view`, `exec.concat`)
    and becomes an `exec.program` in memory form. The parameters and states of all functions become `exec.tensor`s,
    which come first in the arena.

    *Aliasing.*  A view is its source with other strides and costs nothing.  The
    operands of a concat are written into its slices, an accumulator is summed in
    place, a result overwrites an operand at its last use, and the new value of a
    parameter (`tg.updates`) overwrites the old one after its last read.  Where two
    values must alias but cannot, a kernel `copy` is inserted.

    *Offsets.* Buffers get offsets such that buffers that live at the same time do not overlap; a separate verifier
    checks the result. The scratch memory of library calls is one buffer, right after the persistent tensors, at the
    same offset in all programs.

    *Leading-dimension padding.* On a target with a row alignment, rows of a transient tensor whose size is no
    multiple of 16 bytes are padded so that each row begins aligned, if the padding is at most a sixteenth of the
    rows and if all actions that write or read the tensor process it by rows and accept strides. Padding never
    causes a copy and never prevents a result from being written over an operand: either both are padded, or neither
    is. The padding is part of the buffer, and its `padding` attribute is the number of bytes; only matmuls read or
    write them (`exec-pad-matmuls`). A weight that gives the columns of a padded result gets as many rows of zeros
    behind it, so its `bytes` include more than its values.

    *Categories.* A transient buffer has the first category that fits:

    * `inputs`;
    * `workspace`;
    * `gathered`: parameters that a collective makes whole;
    * `activations`: written by an action that the loss or another result with a role depends on. Without such
      results a scalar result takes their place; in a program that updates nothing, all buffers are activations;
    * `buckets`: combined from several tensors by a collective;
    * `gradients`: all others.

    *Collectives* read and write contiguous memory: a strided operand is copied first, and the copy's name in
    reports says so. Each tensor of a bucket stays in its own place. Until the wait of a `comm.start`, the operands
    of the collective stay live and unwritten, and no other action uses the memory of its results. `comm.program`,
    and `comm.sharding` and `comm.global` of arguments and results, stay on the program, tensors and buffers. A
    `comm.slice` or `comm.assemble` along a dim reads and writes rows in place; along the flat order it is
    contiguous like a collective.

    *Reads.* References do not show which value they hold. `exec.reads` on a program records the value of each
    operand, from uses and definitions of the program on values (`dialects/Exec/ValueReads.h`). `exec-verify-plan`
    compares and removes it.

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
    The sum overwrites `w`, which has no other reader. The first operand has one dim of 8 and one source, argument 0
    (`-1, 0`), and is no view of it. The new value of `w` is result 0 of action 0.
  }];
  let options = [
    Flag<"Memory", "--memory-limit", "plan", "memoryLimit", "memory-limit", "std::string", "\"\"",
         "Largest arena in bytes, or with a unit as in 512MiB or 2G; a larger plan is an error; limits the overlap of "
         "communication, and recomputes values if the plan would not fit otherwise", [{size()}]>,
    Flag<"Memory", "--row-alignment", "plan", "rowAlignment", "row-alignment", "::braid::Integer<-1, 1048576>", "-1",
         "Alignment of rows of activations and gradients in bytes; rows are padded only if the padding is small; 0: "
         "never",
         [{integer("BYTES")}], "the alignment of the target">,
  ];
  let dependentDialects = ["exec::ExecDialect"];
}

def PadMatmulsPass : Pass<"exec-pad-matmuls", "::mlir::ModuleOp"> {
  let summary = "Lets matmuls compute and contract the padding of rows";
  let description = [{
    GEMM libraries have their fastest kernels for sizes that are multiples of 16 bytes. The planner pads rows of
    logits, and leaves room for as many rows of zeros behind a weight that gives their columns (`exec-plan-memory`).
    A matmul that writes such rows then computes their padding, too: products with zeros, which are zeros. If a
    matmul contracts rows with such padding, with a weight that has zeros behind it, it contracts the padding as
    well. All other actions leave the padding alone, so the program only computes additional products with zeros.

    Three cases are left alone: matmuls with an epilogue, an accumulator or a second result, whose other tensors have as
    many columns as the result; weights that are not persistent tensors, such as gathered weights; and slices of rows.

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

#endif // BRAID_PASSES_ARENA_MEMORY
