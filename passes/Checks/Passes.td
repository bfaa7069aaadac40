//===- Passes.td - verifiers of actions --------------------*- tablegen -*-===//
//
// Verifiers share no code with the passes that they check. exec-verify-values runs behind the last pass on values,
// exec-verify-memory and exec-verify-plan behind the last pass on memory.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_CHECKS
#define BRAID_PASSES_CHECKS

include "mlir/Pass/PassBase.td"

def VerifyValuesPass : Pass<"exec-verify-values"> {
  let summary = "Fails if an op is neither an action nor a view";
  let description = [{
    Checks the boundary between choosing actions and planning their memory. Changes nothing.

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

def VerifyMemoryPass : Pass<"exec-verify-memory"> {
  let summary = "Fails if a tensor is left outside kernel bodies";
  let description = [{
    Checks the boundary between planning and translation: every value of a program must be a reference into the
    arena. Changes nothing.

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
    Knows nothing about how the plan was made. Checks that:

    * persistent tensors and buffers lie aligned in the arena, and do not overlap if they live at the same time;
    * every reference is inside its buffer, and every access is inside the buffer's live range;
    * an action overwrites its own operands only where it allows that;
    * an action that needs contiguous references gets contiguous references;
    * between a `comm.start` and its wait no action writes the collective's operands or touches its results.

    *Values.* The pass follows every byte from its write to its reads (`WriteTracker.h`). Every byte must be written
    before it is read: inputs and persistent tensors are written at the start, results must be written at the end.
    Where `exec.reads` names the value of each operand (`exec-plan-memory`), the last write of each of its bytes
    must belong to that value, and its first and last elements must lie where they were written. Results must hold
    the returned values, and persistent tensors that the program does not update must keep their values. Within a
    buffer, no action may overwrite bytes of another action that were never read. Four cases are allowed: an
    accumulator that its action reads; a result without readers (known from `exec.reads`); zeros in the padding of
    rows that a matmul reads; and bytes of another buffer whose life has ended.

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

#endif // BRAID_PASSES_CHECKS
