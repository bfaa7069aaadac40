//===- Passes.td - communication beside computation --------*- tablegen -*-===//
//
// What happens to the collectives of a training step once kernels are formed: they
// run beside the computation, which makes room for them.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_OVERLAP
#define BRAID_PASSES_OVERLAP

include "mlir/Pass/PassBase.td"

def FillWaitsPass : Pass<"comm-fill-waits", "::mlir::ModuleOp"> {
  let summary = "Computes what does not depend on a collective while that is on its way";
  let description = [{
    A collective is waited for where its first reader stands, and often nothing is computed between the two. Then
    actions that do not depend on it take their place there: from before it (the gradient of a weight, while the
    gradient of the same layer's input is summed over `tp`; Narayanan et al. 2021), and if these do not suffice from
    behind its first reader (the expert that all tokens share, while tokens go to the others). `comm-overlap` then
    finds them between the start and the wait.

    As many move as last as long as the collective (`exec.machine`, as in `comm-overlap`), those next to it first, and
    no further than another collective that they hide. Waits for updates alone stay: updates move by themselves.
    Collectives keep their order, what reads gathered parameters stays where these are gathered for it, and who
    overwrites a value comes after who reads it. Nothing else is
    computed, so results have the same bits.

    A program that would hold more than a hundredth more in its new order, or with `memory-limit` more at all,
    only takes what stood before a collective, or keeps its order.

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
           "The arena: where there is a limit, no program may hold more in its new order">];
  let dependentDialects = ["::braid::comm::CommDialect", "::braid::exec::ExecDialect"];
}

def OverlapPass : Pass<"comm-overlap", "::mlir::ModuleOp"> {
  let summary = "Runs communication beside computation";
  let description = [{
    Collectives become a `comm.start` and a `comm.wait` with computation between them.
    Nothing is computed otherwise than before, so results have the same bits.

    *Reductions* start once their operands are there.  Their wait comes before the
    first reader, or once they are surely over where that frees memory or lets another
    collective start.

    *Gathers of stored parameters* (ZeRO-3) start as late as they are still hidden, with
    twice their seconds left because predictions may be off, and at most `prefetch` units
    before their own is used, in forward and backward.  In backward the gather of the
    next unit starts before this unit's reduction that would make it late.  0 gathers a
    unit when it is needed.  Unless it is said, one unit is gathered ahead, and another as
    long as that saves time where collectives take half as long again as predicted.

    *Held starts* (`comm.held_start`): what goes round a ring starts no earlier than what computes before it is
    done, though it is there already, so that one block is received at a time.

    *Updates* run as soon as their bucket is reduced, together, unless they need the
    gradients of all (a remark says so).  As many as hide the last reduction stay
    behind the backward pass, unless what they make is gathered (ZeRO-1 and 2).  A new
    value never overwrites an old one that is still read.  `early-updates=false` keeps
    all of them behind the backward pass.  What is computed of reductions alone, and
    read by nothing but updates (a gradient scaled, a part of the norm), moves with
    them.

    The prediction: an action takes as long as its operations or its bytes, a collective as long as its messages and
    bytes on its link.  Rates are those of the target, or of `exec.machine` (`exec-set-machine`).
    The link works in the order of starts, which is the same on all ranks.  Functions
    that only some ranks run, and barriers, keep their order.

    *Memory.*  Buffers are assigned before anything moves (`exec-plan-memory` says how), and
    who overwrites a value comes after who reads it.  So what the schedule counts is what
    the planner places, to the byte: `exec.assignment` carries storages, the places of
    all values and the live bytes to the planner, which checks them.  `memory-limit` bounds
    the arena: what would exceed it starts later, and waits come earlier.  A program
    whose own order exceeds it gets no worse.

    Each start, and each collective that is waited for at once, carries
    `comm.timing = {predicted_s, exposed_s, waits_for}`: its time on the link, how long
    computing stalls at its wait, and what its beginning waits for.  The function
    has the same for all.  `annotate-only` says that of the program as it is.

    Functions without `comm.program`, and those that have a comm.start, are left alone.
    One without collectives is told its time and otherwise left alone.

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
    Two microseconds for the messages, two for launching and two for computing each matmul.  Each of
    the three values has 256 bytes of its own; with both arguments and the workspace of the matmuls
    that is the most that is live.
  }];
  let options = [
    Option<"prefetch", "prefetch", "::braid::Integer<-1, 1000000>", /*default=*/"-1",
           "Units that are gathered ahead of their use, at most; -1: as many as predicted times ask for">,
    Option<"memoryLimit", "memory-limit", "std::string", /*default=*/"\"\"",
           "The arena: bytes, or with a unit (512MiB, 2G); empty for no limit">,
    Option<"earlyUpdates", "early-updates", "bool", /*default=*/"true", "Whether updates run during backward">,
    Option<"annotateOnly", "annotate-only", "bool", /*default=*/"false", "Predict the program as it is, and move nothing">,
    Option<"rowAlignment", "row-alignment", "::braid::Integer<-1, 1048576>", /*default=*/"-1", "As exec-plan-memory has it">,
  ];
  let dependentDialects = ["::braid::comm::CommDialect"];
}

def ShareMultiprocessorsPass : Pass<"comm-share-multiprocessors", "::mlir::ModuleOp"> {
  let summary = "Lets matmuls beside a collective leave multiprocessors to it";
  let description = [{
    On a GPU a collective is a kernel, too: each of its CTAs has a multiprocessor of its own.
    A matmul that was planned for all of them then needs another wave for the few blocks that
    found no place.  `comm.ctas` on the module is the most CTAs that a collective gets; a
    matmul that runs beside one carries `comm.beside_collective`, and its algorithm is chosen
    for the multiprocessors that are left.

    In memory form, in which the schedule is final.  A matmul is beside collectives if the
    link works in half of its time or longer: computing and the link are simulated as in
    `comm-overlap`, because a wait may come long after its collective is over.

    `ctas` is that of the target's row (lib/Target); 0 marks nothing, and leaves their number
    to the library.  Leaves modules without a mesh, and those for a target without a GPU.

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
    Option<"ctas", "ctas", "::braid::Integer<-1, 32>", /*default=*/"-1",
           "The most CTAs of a collective; -1 for the target's, 0 for the library's choice">,
  ];
  let dependentDialects = ["::braid::comm::CommDialect"];
}

#endif // BRAID_PASSES_OVERLAP
