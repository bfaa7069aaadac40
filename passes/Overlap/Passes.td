//===- Passes.td - communication beside computation --------*- tablegen -*-===//
//
// Overlaps the collectives of a training step with computation, once kernels are formed.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_OVERLAP
#define BRAID_PASSES_OVERLAP

include "passes/Base/Flag.td"

def FillWaitsPass : Pass<"comm-fill-waits", "::mlir::ModuleOp"> {
  let summary = "Fills waits for collectives with independent computation";
  let description = [{
    The program waits for a collective at its first reader, often with no computation between the two. Then the pass
    moves actions that do not depend on the collective in between. It first takes actions from before the collective
    (the gradient of a weight, while the gradient of the same layer's input is summed over `tp`; Narayanan et al.
    2021). If these do not suffice, it takes actions from behind the first reader (the expert that all tokens share,
    while tokens go to the others). `comm-overlap` then finds them between the start and the wait.

    The moved actions last as long as the collective (predicted as in `comm-overlap`, by `exec.machine`). The
    nearest move first, and none moves past another collective that it hides. Waits that only updates need stay,
    because updates move by themselves. Collectives keep their order. Readers of gathered parameters stay behind the
    gather that is made for them, and an action that overwrites a value comes after the readers of the value. The
    pass only reorders, so results have the same bits.

    If the new order holds over 1% more memory, or with `memory-limit` any more, the pass moves only actions from
    before a collective, or keeps the old order.

    Input:
    ```mlir
    module attributes {exec.machine = #exec.machine<compute = [0.512, 1024.0], link = [0.5, 0.256]>} {
      comm.mesh @mesh [tp = 2]
      func.func @f(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
          attributes {comm.program = #comm.program<@mesh>} {
        %w = exec.matmul "km,kn->mn"(%x, %y) : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
        %p = exec.matmul "mk,kn->mn"(%x, %y) : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
        %g = comm.all_reduce sum %p over @mesh {tp} : (tensor<8x8xf32>) -> tensor<8x8xf32>
        %s = exec.matmul "mk,kn->mn"(%g, %y) : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
        return %w, %s : tensor<8x8xf32>, tensor<8x8xf32>
      }
    }
    ```
    Output:
    ```mlir
    module attributes {exec.machine = #exec.machine<compute = [0.512, 1024.0], link = [0.5, 0.256]>} {
      comm.mesh @mesh [tp = 2]
      func.func @f(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
          attributes {comm.program = #comm.program<@mesh>} {
        %p = exec.matmul "mk,kn->mn"(%x, %y) : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
        %g = comm.all_reduce sum %p over @mesh {tp} : (tensor<8x8xf32>) -> tensor<8x8xf32>
        %w = exec.matmul "km,kn->mn"(%x, %y) : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
        %s = exec.matmul "mk,kn->mn"(%g, %y) : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
        return %w, %s : tensor<8x8xf32>, tensor<8x8xf32>
      }
    }
    ```
  }];
  let options = [
    Option<"memoryLimit", "memory-limit", "std::string", /*default=*/"\"\"",
           "Limit of the arena; with a limit, no program may need more memory in its new order">];
  let dependentDialects = ["::braid::comm::CommDialect", "::braid::exec::ExecDialect"];
}

def OverlapPass : Pass<"comm-overlap", "::mlir::ModuleOp"> {
  let summary = "Overlaps communication with computation";
  let description = [{
    Collectives become a `comm.start` and a `comm.wait` with computation between them. The computation itself does
    not change, so results have the same bits.

    *Reductions* start once their operands are ready. The wait comes before the first reader, or earlier: once the
    reduction is surely over, if the wait frees memory or lets another collective start.

    *Gathers of stored parameters* (ZeRO-3) start as late as possible while still hidden, in forward and backward.
    Because predictions may be off, twice their predicted seconds must remain. A gather starts at most `prefetch`
    units before its own unit is used; 0 gathers a unit when it is needed. In backward the gather of the next unit
    starts before this unit's reduction if the reduction would make the gather late. By default one unit is gathered
    ahead. Another is added as long as that saves time when collectives take 1.5 times their predicted time.

    *Held starts* (`comm.held_start`): a transfer around a ring starts only after the computation before it is done,
    even if its operands are ready earlier, so that one block is received at a time.

    *Updates* of one bucket run together, as soon as it is reduced, unless they need all gradients (a remark says
    so). Enough updates to hide the last reduction stay behind the backward pass, unless their results are gathered
    (ZeRO-1 and 2). A new value never overwrites an old one that is still read. `early-updates=false` keeps all of
    them behind the backward pass. A value that is computed only from reductions and read only by updates (a scaled
    gradient, a part of the norm) moves with the updates.

    *Predictions.* An action takes as long as its operations or its bytes, a collective as long as its messages and
    bytes on its link. Rates come from `exec.machine` (`exec-set-machine`), else from the target. The link runs
    collectives in the order of starts, which is the same on all ranks. Functions that only some ranks run, and
    barriers, keep their order.

    *Memory.* Buffers are assigned before anything moves (see `exec-plan-memory`), and an action that overwrites a
    value comes after the readers of the value. So the schedule and the planner agree on memory to the byte.
    `exec.assignment` carries storages, the places of all values and the live bytes to the planner, which checks
    them. `memory-limit` bounds the arena: collectives that would exceed it start later, and waits come earlier. A
    program whose own order exceeds the limit gets no worse.

    Each start, and each collective without a start, carries `comm.timing = {predicted_s, exposed_s, waits_for}`:
    its seconds on the link, the seconds that computation stalls at its wait, and the reason that its start waits
    for. The function carries the totals. `annotate-only` annotates the program in its present order.

    Functions without `comm.program`, and those that have a comm.start, are left alone. A function without
    collectives gets its timing and is otherwise left alone.

    Input:
    ```mlir
    module attributes {exec.machine = #exec.machine<compute = [0.512, 1024.0], link = [0.5, 0.256]>} {
      comm.mesh @mesh [dp = 2]
      func.func @f(%x: tensor<8x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {dp}>}, %y: tensor<8x8xf32>)
          -> (tensor<8x8xf32>, tensor<8x8xf32>) attributes {comm.program = #comm.program<@mesh>} {
        %g = comm.all_reduce sum %x over @mesh {dp} : (tensor<8x8xf32>) -> tensor<8x8xf32>
        %z = exec.matmul "mk,kn->mn"(%y, %y) : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
        %s = exec.matmul "mk,kn->mn"(%z, %g) : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
        return %g, %s : tensor<8x8xf32>, tensor<8x8xf32>
      }
    }
    ```

    Output:
    ```mlir
    module attributes {exec.machine = #exec.machine<compute = [0.512, 1024.0], link = [0.5, 0.256]>} {
      comm.mesh @mesh [dp = 2]
      func.func @f(%x: tensor<8x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {dp}>}, %y: tensor<8x8xf32>)
          -> (tensor<8x8xf32>, tensor<8x8xf32>) attributes {comm.program = #comm.program<@mesh>,
          comm.timing = {predicted_s = 8.0e-06 : f64, exposed_s = 0.0 : f64, waits_for = ""},
          exec.assignment = {live_bytes = 47040 : i64, storages = array<i64: 256, 0, 256, 0, 256, 0>,
              places = [array<i64: 2, 0, 8, 1>, array<i64: 4, 0, 8, 1>, array<i64: 3, 0, 8, 1>]}} {
        %t = comm.start {
          %sum = comm.all_reduce sum %x over @mesh {dp} : (tensor<8x8xf32>) -> tensor<8x8xf32>
        } {comm.timing = {predicted_s = 2.0e-06 : f64, exposed_s = 0.0 : f64, waits_for = ""}} : !comm.ticket<tensor<8x8xf32>>
        %z = exec.matmul "mk,kn->mn"(%y, %y) : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
        %g = comm.wait %t : !comm.ticket<tensor<8x8xf32>> -> tensor<8x8xf32>
        %s = exec.matmul "mk,kn->mn"(%z, %g) : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
        return %g, %s : tensor<8x8xf32>, tensor<8x8xf32>
      }
    }
    ```
    Two microseconds for the messages, two for launching and two for computing each matmul. Each of the three values
    has 256 bytes of its own. These, both arguments and the workspace of the matmuls are the peak of live bytes.
  }];
  let options = [
    Flag<"Communication", "--prefetch", "overlap", "prefetch", "prefetch", "::braid::Integer<-1, 1000000>",
         /*default=*/"-1", "With --zero=3: largest number of units whose parameters are gathered ahead",
         [{integer("N", 0, 1000000)}],
         "1, or more if the predicted time falls">,
    Option<"memoryLimit", "memory-limit", "std::string", /*default=*/"\"\"",
           "Limit of the arena, in bytes or with a unit (512MiB, 2G); empty for no limit">,
    Option<"earlyUpdates", "early-updates", "bool", /*default=*/"true", "Run updates during backward">,
    Option<"annotateOnly", "annotate-only", "bool", /*default=*/"false",
           "Predict times in the present order without moving any action">,
    Option<"rowAlignment", "row-alignment", "::braid::Integer<-1, 1048576>", /*default=*/"-1",
           "Alignment of rows in bytes, as in exec-plan-memory">,
  ];
  let dependentDialects = ["::braid::comm::CommDialect"];
}

def ShareMultiprocessorsPass : Pass<"comm-share-multiprocessors", "::mlir::ModuleOp"> {
  let summary = "Lets matmuls leave multiprocessors to a concurrent collective";
  let description = [{
    On a GPU a collective is a kernel, too: each of its CTAs occupies a multiprocessor. A matmul that was planned
    for all multiprocessors then needs another wave for a few blocks. `comm.ctas` on the module is the maximum
    number of CTAs of a collective. A matmul that runs beside one carries `comm.beside_collective`, and its
    algorithm is chosen for the remaining multiprocessors.

    Runs in memory form, in which the schedule is final. A matmul is beside collectives if the link works during at
    least half of the matmul's time. Computation and the link are simulated as in `comm-overlap`, because a wait may
    come long after its collective is over.

    `ctas` defaults to the value in the target's row (lib/Target); 0 marks nothing and leaves the number to the
    library. Modules without a mesh or without a GPU target are left alone.

    Input:
    ```mlir
    module attributes {exec.machine = #exec.machine<link = [5.0, 1.0]>, exec.target = #exec.target<"cuda", arch = "sm_90">} {
      comm.mesh @mesh [dp = 2]
      exec.program @train arena 1024 attributes {comm.program = #comm.program<@mesh>} {
        exec.buffer @g at 0 bytes 256 live 0 to 3 category gradients name "g"
        exec.buffer @x at 256 bytes 256 live 0 to 3 category activations name "x"
        exec.buffer @y at 512 bytes 256 live 0 to 3 category activations name "y"
        %g = exec.ref @g + 0 : !exec.ref<8x8xf32, [8, 1]>
        %x = exec.ref @x + 0 : !exec.ref<8x8xf32, [8, 1]>
        %y = exec.ref @y + 0 : !exec.ref<8x8xf32, [8, 1]>
        %t = comm.start {
          comm.all_reduce sum %g outs(%g : !exec.ref<8x8xf32, [8, 1]>) over @mesh {dp} : (!exec.ref<8x8xf32, [8, 1]>) -> ()
        } : !comm.ticket<>
        exec.matmul "mk,kn->mn" (%x, %x) outs(%y : !exec.ref<8x8xf32, [8, 1]>) : !exec.ref<8x8xf32, [8, 1]>, !exec.ref<8x8xf32, [8, 1]>
        comm.wait %t : !comm.ticket<>
        exec.matmul "mk,kn->mn" (%y, %g) outs(%x : !exec.ref<8x8xf32, [8, 1]>) : !exec.ref<8x8xf32, [8, 1]>, !exec.ref<8x8xf32, [8, 1]>
      }
    }
    ```

    Output:
    ```mlir
    module attributes {comm.ctas = 16 : i64, exec.machine = #exec.machine<link = [5.0, 1.0]>,
                       exec.target = #exec.target<"cuda", arch = "sm_90">} {
      comm.mesh @mesh [dp = 2]
      exec.program @train arena 1024 attributes {comm.program = #comm.program<@mesh>} {
        exec.buffer @g at 0 bytes 256 live 0 to 3 category gradients name "g"
        exec.buffer @x at 256 bytes 256 live 0 to 3 category activations name "x"
        exec.buffer @y at 512 bytes 256 live 0 to 3 category activations name "y"
        %g = exec.ref @g + 0 : !exec.ref<8x8xf32, [8, 1]>
        %x = exec.ref @x + 0 : !exec.ref<8x8xf32, [8, 1]>
        %y = exec.ref @y + 0 : !exec.ref<8x8xf32, [8, 1]>
        %t = comm.start {
          comm.all_reduce sum %g outs(%g : !exec.ref<8x8xf32, [8, 1]>) over @mesh {dp} : (!exec.ref<8x8xf32, [8, 1]>) -> ()
        } : !comm.ticket<>
        exec.matmul "mk,kn->mn" (%x, %x) outs(%y : !exec.ref<8x8xf32, [8, 1]>) {comm.beside_collective} : !exec.ref<8x8xf32, [8, 1]>, !exec.ref<8x8xf32, [8, 1]>
        comm.wait %t : !comm.ticket<>
        exec.matmul "mk,kn->mn" (%y, %g) outs(%x : !exec.ref<8x8xf32, [8, 1]>) : !exec.ref<8x8xf32, [8, 1]>, !exec.ref<8x8xf32, [8, 1]>
      }
    }
    ```
  }];
  let options = [
    Flag<"Communication", "--comm-ctas", "share", "ctas", "ctas", "::braid::Integer<-1, 32>", /*default=*/"-1",
         "On GPUs: largest number of CTAs (thread blocks) of a collective; concurrent matmuls leave that "
         "many multiprocessors free; 0: NCCL chooses the number, and matmuls use all multiprocessors",
         [{integer("N", 0, 32)}],
         "set by the GPU: 16 for sm_90">,
  ];
  let dependentDialects = ["::braid::comm::CommDialect"];
}

#endif // BRAID_PASSES_OVERLAP
