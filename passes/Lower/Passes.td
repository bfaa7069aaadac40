//===- Passes.td - from tensors to actions in memory -------------*- tablegen -*-===//
//
// Order: select-calls, form-kernels, fuse-kernels, (verify), plan-memory,
// outline-kernels, batch-launches, (verify).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_LOWER
#define BRAID_PASSES_LOWER

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Actions on values
//===----------------------------------------------------------------------===//

class TargetPass<string name, string op> : Pass<name, op> {
  let options = [Option<"target", "target", "std::string", /*default=*/"\"cpu\"", "The target to lower for">];
  let dependentDialects = ["::braid::exec::ExecDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def SelectEpiloguesPass : TargetPass<"exec-select-epilogues", "::mlir::func::FuncOp"> {
  let summary = "Lets library calls apply activations to their results";
  let description = [{
    Runs before `tg-decompose`, while activations are whole.  A contraction (and
    its bias) that only a GELU or SiLU reads becomes a call with that epilogue,
    where the target's library has it.  In training the activation's operand is
    saved for backward and nothing happens.

    Input:
    ```mlir
    func.func @f(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>) -> tensor<4x16xf32> {
      %h = tg.contract "bd,fd->bf" %x, %w : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
      %y = tg.gelu tanh %h : tensor<4x16xf32>
      return %y : tensor<4x16xf32>
    }
    ```
    Output:
    ```mlir
    func.func @f(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>) -> tensor<4x16xf32> {
      %y = exec.matmul "bd,fd->bf" (%x, %w) epilogue gelu_tanh : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x16xf32>
      return %y : tensor<4x16xf32>
    }
    ```
  }];
}

def SelectCallsPass : TargetPass<"exec-select-calls", "::mlir::func::FuncOp"> {
  let summary = "Selects library calls and views";
  let description = [{
    * `tg.contract` becomes `exec.matmul`.  Operands are read through views; where
      no GEMM takes the strides, the operand is copied.  Contractions that are no
      matrix products (nothing contracted, or only dot products) become products
      and reductions.
    * A bias added to a call's only use moves into the call.  A sum of a call and
      a tensor that dies there becomes a call that accumulates.
    * `tg.gather`, `tg.scatter_add`, `tg.concat`, `tg.pad` become their exec forms.
      A sum of disjoint pads (gradients of slices) becomes one concat.
    * `tg.slice`, `tg.transpose`, `tg.reshape` become `exec.view` of a contiguous
      tensor, after a copy where no strides express them.

    Input:
    ```mlir
    func.func @f(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %b: tensor<16xf32>) -> tensor<16x4xf32> {
      %h = tg.contract "bd,fd->bf" %x, %w : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
      %c = tg.broadcast %b dims [1] : tensor<16xf32> -> tensor<4x16xf32>
      %y = arith.addf %h, %c : tensor<4x16xf32>
      %t = tg.transpose %y [1, 0] : tensor<4x16xf32> -> tensor<16x4xf32>
      return %t : tensor<16x4xf32>
    }
    ```
    Output:
    ```mlir
    func.func @f(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %b: tensor<16xf32>) -> tensor<16x4xf32> {
      %y = exec.matmul "bd,fd->bf"(%x, %w bias %b : tensor<16xf32>) : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x16xf32>
      %t = exec.view %y offset 0 strides [1, 16] : tensor<4x16xf32> -> tensor<16x4xf32>
      return %t : tensor<16x4xf32>
    }
    ```
  }];
}

def FormKernelsPass : TargetPass<"exec-form-kernels", "::mlir::func::FuncOp"> {
  let summary = "Makes a kernel of every op that computes";
  let description = [{
    One `exec.kernel` an op at first.  Constants, iotas, broadcasts and cheap
    arithmetic on constants and iotas are written into each kernel that reads
    them.  Reductions go by lanes first; reduced rows are cut into blocks whose
    partials a second kernel combines in order.  Collectives stay as they are.

    Input:
    ```mlir
    func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
      %two = arith.constant dense<2.0> : tensor<8xf32>
      %y = arith.mulf %x, %two : tensor<8xf32>
      return %y : tensor<8xf32>
    }
    ```
    Output:
    ```mlir
    #id = affine_map<(d0) -> (d0)>
    func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
      %y = exec.kernel "mulf"(%x) space [8] : (tensor<8xf32>) -> tensor<8xf32> {
      ^bb0(%kx: tensor<8xf32>):
        %empty = tensor.empty() : tensor<8xf32>
        %ky = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
            ins(%kx : tensor<8xf32>) outs(%empty : tensor<8xf32>) attrs = {exec.dims = array<i64: 0>} {
        ^bb0(%in: f32, %out: f32):
          %two = arith.constant 2.0 : f32
          %product = arith.mulf %in, %two : f32
          linalg.yield %product : f32
        } -> tensor<8xf32>
        exec.yield %ky : tensor<8xf32>
      }
      return %y : tensor<8xf32>
    }
    ```
  }];
}

def FuseKernelsPass : TargetPass<"exec-fuse-kernels", "::mlir::func::FuncOp"> {
  let summary = "Moves kernels into one another";
  let description = [{
    In program order each kernel is merged with kernels that make its operands
    and with earlier ones that read the same tensors, when their spaces have a
    common refinement in which shared values have the same coordinates, nothing
    between them forbids it, and no sum over rows is read.  Collectives keep their
    order.  A value that only the
    kernel reads disappears.  A layer norm becomes one kernel, its backward with
    the partial sums of the weight gradients another.

    Input:
    ```mlir
    #id = affine_map<(d0) -> (d0)>
    func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
      %y = exec.kernel "sin"(%x) space [8] : (tensor<8xf32>) -> tensor<8xf32> {
      ^bb0(%kx: tensor<8xf32>):
        %empty = tensor.empty() : tensor<8xf32>
        %ky = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
            ins(%kx : tensor<8xf32>) outs(%empty : tensor<8xf32>) attrs = {exec.dims = array<i64: 0>} {
        ^bb0(%in: f32, %out: f32):
          %v = math.sin %in : f32
          linalg.yield %v : f32
        } -> tensor<8xf32>
        exec.yield %ky : tensor<8xf32>
      }
      %z = exec.kernel "exp"(%y) space [8] : (tensor<8xf32>) -> tensor<8xf32> {
      ^bb0(%ky: tensor<8xf32>):
        %empty = tensor.empty() : tensor<8xf32>
        %kz = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
            ins(%ky : tensor<8xf32>) outs(%empty : tensor<8xf32>) attrs = {exec.dims = array<i64: 0>} {
        ^bb0(%in: f32, %out: f32):
          %v = math.exp %in : f32
          linalg.yield %v : f32
        } -> tensor<8xf32>
        exec.yield %kz : tensor<8xf32>
      }
      return %z : tensor<8xf32>
    }
    ```
    Output:
    ```mlir
    #id = affine_map<(d0) -> (d0)>
    func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
      %z = exec.kernel "sin"(%x) space [8] : (tensor<8xf32>) -> tensor<8xf32> {
      ^bb0(%kx: tensor<8xf32>):
        %empty = tensor.empty() : tensor<8xf32>
        %ky = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
            ins(%kx : tensor<8xf32>) outs(%empty : tensor<8xf32>) attrs = {exec.dims = array<i64: 0>} {
        ^bb0(%in: f32, %out: f32):
          %v = math.sin %in : f32
          linalg.yield %v : f32
        } -> tensor<8xf32>
        %empty2 = tensor.empty() : tensor<8xf32>
        %kz = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
            ins(%ky : tensor<8xf32>) outs(%empty2 : tensor<8xf32>) attrs = {exec.dims = array<i64: 0>} {
        ^bb0(%in: f32, %out: f32):
          %v = math.exp %in : f32
          linalg.yield %v : f32
        } -> tensor<8xf32>
        exec.yield %kz : tensor<8xf32>
      }
      return %z : tensor<8xf32>
    }
    ```
  }];
}

def VerifyValuesPass : Pass<"exec-verify-values"> {
  let summary = "Fails if an op of the graph is left: everything is an action or a view";
  let description = [{
    The boundary between choosing actions and planning their memory.  Changes
    nothing.

    Leaves:
    ```mlir
    func.func @f(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>) -> tensor<16x4xf32> {
      %y = exec.matmul "bd,fd->bf"(%x, %w) : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x16xf32>
      %t = exec.view %y offset 0 strides [1, 16] : tensor<4x16xf32> -> tensor<16x4xf32>
      return %t : tensor<16x4xf32>
    }
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def OutlineKernelsPass : Pass<"exec-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Defines each kernel once";
  let description = [{
    Kernels in memory form with equal bodies, layouts and ties (outs that are
    operands) become one `exec.kernel_def`, and an `exec.launch` each: a model has
    as much kernel source as one of its layers.  A kernel that is elementwise on
    contiguous tensors, without indices, becomes `flat`: it does not depend on the
    length.

    Input:
    ```mlir
    #id = affine_map<(d0) -> (d0)>
    exec.tensor @v at 0 bytes 32 cause "parameters" : tensor<8xf32> = #tg.param<"v", #tg.init<zeros>>
    exec.tensor @w at 64 bytes 32 cause "parameters" : tensor<8xf32> = #tg.param<"w", #tg.init<zeros>>
    exec.program @train arena 192 {
      exec.buffer @b0 at 128 bytes 32 live -1 to 1 cause "inputs" name "x" "input" role "" : tensor<8xf32>
      %v = exec.ref @v + 0 : !exec.ref<8xf32, [1]>
      %x = exec.ref @b0 + 0 : !exec.ref<8xf32, [1]>
      %w = exec.ref @w + 0 : !exec.ref<8xf32, [1]>
      exec.kernel "addf"(%v, %x) outs(%v : !exec.ref<8xf32, [1]>) space [8] : (!exec.ref<8xf32, [1]>, !exec.ref<8xf32, [1]>) -> () {
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
    Output:
    ```mlir
    #id = affine_map<(d0) -> (d0)>
    exec.kernel_def @addf space [1] flat layouts [!exec.ref<1xf32, [1]>, !exec.ref<1xf32, [1]>, !exec.ref<1xf32, [1]>] ties [0] {
    ^bb0(%ka: tensor<1xf32>, %kb: tensor<1xf32>):
      %empty = tensor.empty() : tensor<1xf32>
      %kc = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
          ins(%ka, %kb : tensor<1xf32>, tensor<1xf32>) outs(%empty : tensor<1xf32>) attrs = {exec.dims = array<i64: 0>} {
      ^bb0(%a: f32, %b: f32, %out: f32):
        %sum = arith.addf %a, %b : f32
        linalg.yield %sum : f32
      } -> tensor<1xf32>
      exec.yield %kc : tensor<1xf32>
    }
    exec.tensor @v at 0 bytes 32 cause "parameters" : tensor<8xf32> = #tg.param<"v", #tg.init<zeros>>
    exec.tensor @w at 64 bytes 32 cause "parameters" : tensor<8xf32> = #tg.param<"w", #tg.init<zeros>>
    exec.program @train arena 192 {
      exec.buffer @b0 at 128 bytes 32 live -1 to 1 cause "inputs" name "x" "input" role "" : tensor<8xf32>
      %v = exec.ref @v + 0 : !exec.ref<8xf32, [1]>
      %x = exec.ref @b0 + 0 : !exec.ref<8xf32, [1]>
      %w = exec.ref @w + 0 : !exec.ref<8xf32, [1]>
      exec.launch @addf batch 1(%v, %x) outs(%v) : !exec.ref<8xf32, [1]>, !exec.ref<8xf32, [1]> -> !exec.ref<8xf32, [1]>
      exec.launch @addf batch 1(%w, %x) outs(%w) : !exec.ref<8xf32, [1]>, !exec.ref<8xf32, [1]> -> !exec.ref<8xf32, [1]>
    }
    ```
  }];
  let dependentDialects = ["::braid::exec::ExecDialect"];
}

def BatchLaunchesPass : Pass<"exec-batch-launches", "::mlir::ModuleOp"> {
  let summary = "Makes one launch of independent launches of a flat kernel";
  let description = [{
    A launch moves up to an earlier one of its kernel if no action between them
    conflicts with it in memory.  Buffers' lives are renumbered.  With AdamW all
    parameters of one decay group are updated by one launch.

    Input:
    ```mlir
    #id = affine_map<(d0) -> (d0)>
    exec.kernel_def @addf space [1] flat layouts [!exec.ref<1xf32, [1]>, !exec.ref<1xf32, [1]>, !exec.ref<1xf32, [1]>] ties [0] {
    ^bb0(%ka: tensor<1xf32>, %kb: tensor<1xf32>):
      %empty = tensor.empty() : tensor<1xf32>
      %kc = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
          ins(%ka, %kb : tensor<1xf32>, tensor<1xf32>) outs(%empty : tensor<1xf32>) attrs = {exec.dims = array<i64: 0>} {
      ^bb0(%a: f32, %b: f32, %out: f32):
        %sum = arith.addf %a, %b : f32
        linalg.yield %sum : f32
      } -> tensor<1xf32>
      exec.yield %kc : tensor<1xf32>
    }
    exec.tensor @v at 0 bytes 32 cause "parameters" : tensor<8xf32> = #tg.param<"v", #tg.init<zeros>>
    exec.tensor @w at 64 bytes 32 cause "parameters" : tensor<8xf32> = #tg.param<"w", #tg.init<zeros>>
    exec.program @train arena 192 {
      exec.buffer @b0 at 128 bytes 32 live -1 to 1 cause "inputs" name "x" "input" role "" : tensor<8xf32>
      %v = exec.ref @v + 0 : !exec.ref<8xf32, [1]>
      %x = exec.ref @b0 + 0 : !exec.ref<8xf32, [1]>
      %w = exec.ref @w + 0 : !exec.ref<8xf32, [1]>
      exec.launch @addf batch 1(%v, %x) outs(%v) : !exec.ref<8xf32, [1]>, !exec.ref<8xf32, [1]> -> !exec.ref<8xf32, [1]>
      exec.launch @addf batch 1(%w, %x) outs(%w) : !exec.ref<8xf32, [1]>, !exec.ref<8xf32, [1]> -> !exec.ref<8xf32, [1]>
    }
    ```
    Output:
    ```mlir
    #id = affine_map<(d0) -> (d0)>
    exec.kernel_def @addf space [1] flat layouts [!exec.ref<1xf32, [1]>, !exec.ref<1xf32, [1]>, !exec.ref<1xf32, [1]>] ties [0] {
    ^bb0(%ka: tensor<1xf32>, %kb: tensor<1xf32>):
      %empty = tensor.empty() : tensor<1xf32>
      %kc = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
          ins(%ka, %kb : tensor<1xf32>, tensor<1xf32>) outs(%empty : tensor<1xf32>) attrs = {exec.dims = array<i64: 0>} {
      ^bb0(%a: f32, %b: f32, %out: f32):
        %sum = arith.addf %a, %b : f32
        linalg.yield %sum : f32
      } -> tensor<1xf32>
      exec.yield %kc : tensor<1xf32>
    }
    exec.tensor @v at 0 bytes 32 cause "parameters" : tensor<8xf32> = #tg.param<"v", #tg.init<zeros>>
    exec.tensor @w at 64 bytes 32 cause "parameters" : tensor<8xf32> = #tg.param<"w", #tg.init<zeros>>
    exec.program @train arena 192 {
      exec.buffer @b0 at 128 bytes 32 live -1 to 0 cause "inputs" name "x" "input" role "" : tensor<8xf32>
      %v = exec.ref @v + 0 : !exec.ref<8xf32, [1]>
      %x = exec.ref @b0 + 0 : !exec.ref<8xf32, [1]>
      %w = exec.ref @w + 0 : !exec.ref<8xf32, [1]>
      exec.launch @addf batch 2(%v, %x, %w, %x) outs(%v, %w)
          : !exec.ref<8xf32, [1]>, !exec.ref<8xf32, [1]>, !exec.ref<8xf32, [1]>, !exec.ref<8xf32, [1]>
          -> !exec.ref<8xf32, [1]>, !exec.ref<8xf32, [1]>
    }
    ```
  }];
  let dependentDialects = ["::braid::exec::ExecDialect"];
}

def VerifyMemoryPass : Pass<"exec-verify-memory"> {
  let summary = "Fails if a tensor is left outside kernel bodies";
  let description = [{
    The boundary between planning and translation: every value of a program is a
    reference into the arena.  Changes nothing.

    Leaves:
    ```mlir
    exec.tensor @w at 0 bytes 512 cause "parameters" : tensor<16x8xf32> = #tg.param<"w", #tg.init<zeros>>
    exec.program @eval arena 8389504 {
      exec.buffer @workspace at 512 bytes 8388608 live 0 to 0 cause "workspace" name "workspace"
      exec.buffer @x at 8389120 bytes 128 live -1 to 0 cause "inputs" name "x" "input" role "" : tensor<4x8xf32>
      exec.buffer @y at 8389248 bytes 256 live 0 to 1 cause "activations" name "y" "result" role "y" : tensor<4x16xf32>
      %x = exec.ref @x + 0 : !exec.ref<4x8xf32, [8, 1]>
      %w = exec.ref @w + 0 : !exec.ref<16x8xf32, [8, 1]>
      %y = exec.ref @y + 0 : !exec.ref<4x16xf32, [16, 1]>
      exec.matmul "bd,fd->bf"(%x, %w) outs(%y : !exec.ref<4x16xf32, [16, 1]>) : !exec.ref<4x8xf32, [8, 1]>, !exec.ref<16x8xf32, [8, 1]>
    }
    ```
  }];
}

def PlanMemory : Pass<"exec-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Gives every value of the programs its bytes in the arena";
  let description = [{
    The only bufferizer.  Every function of the module is a program on values
    (actions, `exec.view`, `exec.concat`); every one becomes an `exec.program` in
    memory form, and the parameters and states of all of them become
    `exec.tensor`s, which come first in the arena.

    *Ties.*  A view is its source with other strides and costs nothing.  The
    operands of a concat are written into its slices, an accumulator is summed in
    place, a result overwrites an operand that dies there, and the new value of a
    parameter (`tg.updates`) overwrites the old one once nothing reads that.
    Where a tie is demanded but cannot hold, a kernel `copy` is inserted.

    *Offsets.*  Buffers get offsets so that those that live at the same time do
    not overlap; the answer is checked by a verifier of its own.  The scratch
    memory of library calls is one buffer, right after the persistent tensors,
    at the same offset in all programs.

    *Causes.*  Of transient buffers: `inputs`, `workspace`, `gathered` (parameters
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
    exec.tensor @w at 0 bytes 32 cause "parameters" : tensor<8xf32> = #tg.param<"w", #tg.init<zeros>>
    exec.program @train arena 128 {
      exec.buffer @b0 at 64 bytes 32 live -1 to 0 cause "inputs" name "x" "input" role "" : tensor<8xf32>
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
    The sum is written over `w`, which no one else reads.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"", "The target whose alignment and scratch memory count">,
    Option<"memoryLimit", "memory-limit", "std::string", "\"\"",
           "An arena larger than this is an error: bytes, or with a unit (512MiB, 2G); empty for no limit">,
  ];
  let dependentDialects = ["exec::ExecDialect"];
}

def VerifyPlan : Pass<"exec-verify-plan", "::mlir::ModuleOp"> {
  let summary = "Checks a module in memory form";
  let description = [{
    Knows nothing of how the plan was made.  Checks that persistent tensors and
    buffers lie aligned in the arena, that those which live at the same time do
    not overlap, that every reference is inside its buffer and every access
    inside the buffer's life, that every byte read was written before (inputs and
    persistent tensors are at the start, results must be at the end), that an action
    writes over its own operands only where it said that it may and gets contiguous
    references where it takes no others, and that between a `comm.start` and its
    wait nothing writes what the collective reads or touches what it writes.
    Changes nothing.

    Leaves:
    ```mlir
    exec.tensor @w at 0 bytes 512 cause "parameters" : tensor<16x8xf32> = #tg.param<"w", #tg.init<zeros>>
    exec.program @eval arena 8389504 {
      exec.buffer @workspace at 512 bytes 8388608 live 0 to 0 cause "workspace" name "workspace"
      exec.buffer @x at 8389120 bytes 128 live -1 to 0 cause "inputs" name "x" "input" role "" : tensor<4x8xf32>
      exec.buffer @y at 8389248 bytes 256 live 0 to 1 cause "activations" name "y" "result" role "y" : tensor<4x16xf32>
      %x = exec.ref @x + 0 : !exec.ref<4x8xf32, [8, 1]>
      %w = exec.ref @w + 0 : !exec.ref<16x8xf32, [8, 1]>
      %y = exec.ref @y + 0 : !exec.ref<4x16xf32, [16, 1]>
      exec.matmul "bd,fd->bf"(%x, %w) outs(%y : !exec.ref<4x16xf32, [16, 1]>) : !exec.ref<4x8xf32, [8, 1]>, !exec.ref<16x8xf32, [8, 1]>
    }
    ```
  }];
  let options = [Option<"target", "target", "std::string", "\"cpu\"", "The target whose alignment counts">];
}

#endif // BRAID_PASSES_LOWER
