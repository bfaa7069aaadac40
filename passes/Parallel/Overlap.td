//===- Overlap.td - fewer collectives, and hidden ones ---------*- tablegen -*-===//
//
// What happens to the collectives of a training step once its units are gathered:
// those of many tensors become one, then they run beside the computation.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_PARALLEL_OVERLAP
#define BRAID_PASSES_PARALLEL_OVERLAP

include "mlir/Pass/PassBase.td"

def BucketPass : Pass<"comm-bucket", "::mlir::func::FuncOp"> {
  let summary = "Makes one collective of those of many tensors";
  let description = [{
    A message costs a latency, however small; a bucket is one collective over several
    tensors, each in its own place.  Merged are, where op, reduction, element type and
    group are equal:

    * reductions of gradients: what they make becomes, element by element, the new
      value of a parameter, or of the state that adds its gradients up;
    * gathers of parameters that have been updated (ZeRO-1 and 2);
    * reductions of other state, and of single numbers (loss, count, norm, whether to
      stop), where nothing has to wait for it.

    Gathers of stored parameters are left to comm-gather-units, and collectives of
    activations alone.

    Parameters are walked in the order of the arguments, backwards, because gradients
    become ready so.  The first bucket holds at most `first-bucket-mb`, others
    `bucket-mb`, in MiB of whole tensors: the first can be sent early.  A tensor is
    never split, and one larger than that has a bucket of its own.  0 means one tensor
    each, `inf` no limit.  Numbers know none either.

    `auto` asks the link (`link=latency_us,GBps`; by default the memory that ranks of
    one process share).  With n ranks and K bytes of tensors a collective takes m
    latencies and c K / rate, where m = 2 (n-1) and c = 2 (n-1)/n for all_reduce and
    half of both for others.  A bucket ends when it has the bytes of which latency is a
    twentieth, K = 19 m latency rate / c = 19 n latency rate, unless less than these are
    left; the first is like the others.

    `per-unit=auto` ends a bucket where the unit changes if the parameter is stored in
    shards (ZeRO-3): the unit's gradients are then reduced and dropped together.  What
    one bucket makes is sent on as one: the all_reduce across replicas as the
    reduce_scatter within a node.

    A bucket stands behind the op that makes its last tensor; what reads the results
    follows, in the old order.  Tensors of which one depends on another's result are
    never merged.  A remark says what each bucket holds.

    Input (`first-bucket-mb=0.00003 bucket-mb=0.00007`):
    ```mlir
    comm.mesh @mesh [dp = 2]
    func.func @train(%a: tensor<4xf32> {tg.param = #tg.param<"a", #tg.init<ones>>},
                     %b: tensor<4xf32> {tg.param = #tg.param<"b", #tg.init<ones>>},
                     %c: tensor<4xf32> {tg.param = #tg.param<"c", #tg.init<ones>>},
                     %x: tensor<4xf32> {tg.input = "x", comm.sharding = #comm.sharding<@mesh, {dp}>, comm.global = tensor<8xf32>})
        -> (tensor<4xf32> {tg.updates = "a"}, tensor<4xf32> {tg.updates = "b"}, tensor<4xf32> {tg.updates = "c"})
        attributes {comm.program = #comm.program<@mesh>} {
      %dc = arith.mulf %c, %x : tensor<4xf32>
      %gc = comm.all_reduce sum %dc over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
      %db = arith.mulf %b, %x : tensor<4xf32>
      %gb = comm.all_reduce sum %db over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
      %nb = arith.subf %b, %gb : tensor<4xf32>
      %da = arith.mulf %a, %x : tensor<4xf32>
      %ga = comm.all_reduce sum %da over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
      %na = arith.subf %a, %ga : tensor<4xf32>
      %nc = arith.subf %c, %gc : tensor<4xf32>
      return %na, %nb, %nc : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    }
    ```

    Output:
    ```mlir
    comm.mesh @mesh [dp = 2]
    func.func @train(%a: tensor<4xf32> {tg.param = #tg.param<"a", #tg.init<ones>>},
                     %b: tensor<4xf32> {tg.param = #tg.param<"b", #tg.init<ones>>},
                     %c: tensor<4xf32> {tg.param = #tg.param<"c", #tg.init<ones>>},
                     %x: tensor<4xf32> {tg.input = "x", comm.sharding = #comm.sharding<@mesh, {dp}>, comm.global = tensor<8xf32>})
        -> (tensor<4xf32> {tg.updates = "a"}, tensor<4xf32> {tg.updates = "b"}, tensor<4xf32> {tg.updates = "c"})
        attributes {comm.program = #comm.program<@mesh>} {
      %dc = arith.mulf %c, %x : tensor<4xf32>
      %gc = comm.all_reduce sum %dc over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
      %db = arith.mulf %b, %x : tensor<4xf32>
      %da = arith.mulf %a, %x : tensor<4xf32>
      %g:2 = comm.all_reduce sum %db, %da over @mesh {dp} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
      %nb = arith.subf %b, %g#0 : tensor<4xf32>
      %na = arith.subf %a, %g#1 : tensor<4xf32>
      %nc = arith.subf %c, %gc : tensor<4xf32>
      return %na, %nb, %nc : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    }
    ```
  }];
  let options = [
    Option<"bucketMb", "bucket-mb", "std::string", /*default=*/"\"25\"",
           "MiB of tensors in a bucket; 0 (one tensor), inf or auto">,
    Option<"firstBucketMb", "first-bucket-mb", "std::string", /*default=*/"\"1\"", "The same of the first bucket">,
    Option<"link", "link", "std::string", /*default=*/"\"\"", "The link as latency_us,GBps, for bucket-mb=auto">,
    Option<"target", "target", "std::string", /*default=*/"\"cpu\"", "The target whose link counts where none is given">,
    Option<"perUnit", "per-unit", "std::string", /*default=*/"\"auto\"",
           "Whether a bucket ends with its unit: auto (where parameters are stored in shards), true or false">,
  ];
}

def NameTensorsPass : Pass<"comm-name-tensors", "::mlir::func::FuncOp"> {
  let summary = "Says whose tensors each collective sends";
  let description = [{
    Reports are about parameters, but the tensors of a bucket are what ops in backward
    have made.  In a program of ranks each collective gets `comm.tensors`, with a name
    for each tensor that it sends:

    * of a reduction, and of the gathering of what was updated, the parameter or state
      whose new value the result becomes, as comm-bucket finds it;
    * of a gather of stored parameters the parameter;
    * of another argument its name;
    * of a single number the role of the result that it becomes (`loss`, `grad_norm`);
      one that no parameter has a part in is a count: the loss is divided by it.

    What is none of these, as activations are, leaves the collective without names.
    Nothing but reports reads them.

    Input:
    ```mlir
    comm.mesh @mesh [dp = 2]
    func.func @train(%w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                     %x: tensor<4xf32> {tg.input = "x", comm.sharding = #comm.sharding<@mesh, {dp}>, comm.global = tensor<8xf32>})
        -> (tensor<f32> {tg.role = "loss"}, tensor<4xf32> {tg.updates = "w"})
        attributes {comm.program = #comm.program<@mesh>} {
      %y = arith.mulf %w, %x : tensor<4xf32>
      %part = tg.reduce sum %y dims [0] : tensor<4xf32> -> tensor<f32>
      %loss = comm.all_reduce sum %part over @mesh {dp} : (tensor<f32>) -> tensor<f32>
      %g = comm.all_reduce sum %x over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
      %new = arith.subf %w, %g : tensor<4xf32>
      return %loss, %new : tensor<f32>, tensor<4xf32>
    }
    ```

    Output:
    ```mlir
    comm.mesh @mesh [dp = 2]
    func.func @train(%w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                     %x: tensor<4xf32> {tg.input = "x", comm.sharding = #comm.sharding<@mesh, {dp}>, comm.global = tensor<8xf32>})
        -> (tensor<f32> {tg.role = "loss"}, tensor<4xf32> {tg.updates = "w"})
        attributes {comm.program = #comm.program<@mesh>} {
      %y = arith.mulf %w, %x : tensor<4xf32>
      %part = tg.reduce sum %y dims [0] : tensor<4xf32> -> tensor<f32>
      %loss = comm.all_reduce sum %part over @mesh {dp} {comm.tensors = ["loss"]} : (tensor<f32>) -> tensor<f32>
      %g = comm.all_reduce sum %x over @mesh {dp} {comm.tensors = ["w"]} : (tensor<4xf32>) -> tensor<4xf32>
      %new = arith.subf %w, %g : tensor<4xf32>
      return %loss, %new : tensor<f32>, tensor<4xf32>
    }
    ```
  }];
}

def OverlapPass : Pass<"comm-overlap", "::mlir::func::FuncOp"> {
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
    unit when it is needed.

    *Updates* run as soon as their bucket is reduced, together, unless they need the
    gradients of all (a remark says so).  As many as hide the last reduction stay
    behind the backward pass, unless what they make is gathered (ZeRO-1 and 2).  A new
    value never overwrites an old one that is still read.  `early-updates=false` keeps
    all of them behind the backward pass.  What is computed of reductions alone, and
    read by nothing but updates (a gradient scaled, a part of the norm), moves with
    them.

    The prediction: an action takes as long as its operations or its bytes
    (`compute=GFLOPS,GBps`), a collective as long as its messages and bytes on the link
    (`link=latency_us,GBps`; by default the memory that ranks of one process share).
    The link works in the order of starts, which is the same on all ranks.  Functions
    that only some ranks run, and barriers, keep their order.

    `memory-limit` bounds the bytes that are live at one time: what would exceed it
    starts later, and waits for memory come earlier.  A program whose own order exceeds
    it gets no worse.

    Each start, and each collective that is waited for at once, carries
    `comm.timing = {predicted_s, exposed_s, waits_for}`: its time on the link, how long
    computing stands still at its wait, and what its beginning waits for.  The function
    has the same for all.  `annotate-only` says that of the program as it is.

    Functions without `comm.program`, and those that have a comm.start, are left alone.
    One without collectives is told its time and otherwise left alone.

    Input (`link=0.5,0.256 compute=0.512,1024`):
    ```mlir
    comm.mesh @mesh [dp = 2]
    func.func @f(%x: tensor<8x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {dp}>}, %y: tensor<8x8xf32>)
        -> (tensor<8x8xf32>, tensor<8x8xf32>) attributes {comm.program = #comm.program<@mesh>} {
      %g = comm.all_reduce sum %x over @mesh {dp} : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %z = exec.matmul "mk,kn->mn"(%y, %y) : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
      %s = exec.matmul "mk,kn->mn"(%z, %g) : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
      return %g, %s : tensor<8x8xf32>, tensor<8x8xf32>
    }
    ```

    Output:
    ```mlir
    comm.mesh @mesh [dp = 2]
    func.func @f(%x: tensor<8x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {dp}>}, %y: tensor<8x8xf32>)
        -> (tensor<8x8xf32>, tensor<8x8xf32>) attributes {comm.program = #comm.program<@mesh>,
        comm.timing = {predicted_s = 8.0e-06 : f64, exposed_s = 0.0 : f64, waits_for = ""}} {
      %t = comm.start {
        %sum = comm.all_reduce sum %x over @mesh {dp} : (tensor<8x8xf32>) -> tensor<8x8xf32>
      } {comm.timing = {predicted_s = 2.0e-06 : f64, exposed_s = 0.0 : f64, waits_for = ""}} : !comm.ticket<tensor<8x8xf32>>
      %z = exec.matmul "mk,kn->mn"(%y, %y) : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
      %g = comm.wait %t : !comm.ticket<tensor<8x8xf32>> -> tensor<8x8xf32>
      %s = exec.matmul "mk,kn->mn"(%z, %g) : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
      return %g, %s : tensor<8x8xf32>, tensor<8x8xf32>
    }
    ```
    Two microseconds for the messages, two for launching and two for computing each product.
  }];
  let options = [
    Option<"prefetch", "prefetch", "unsigned", /*default=*/"1", "Units that are gathered ahead of their use, at most">,
    Option<"link", "link", "std::string", /*default=*/"\"\"", "The link as latency_us,GBps">,
    Option<"compute", "compute", "std::string", /*default=*/"\"\"",
           "How fast a rank computes, as GFLOPS,GBps: matrix products, and bytes to and from memory">,
    Option<"memoryLimit", "memory-limit", "std::string", /*default=*/"\"\"",
           "Live bytes: a number, or with a unit (512MiB, 2G); empty for no limit">,
    Option<"earlyUpdates", "early-updates", "bool", /*default=*/"true", "Whether updates run during backward">,
    Option<"annotateOnly", "annotate-only", "bool", /*default=*/"false", "Predict the program as it is, and move nothing">,
    Option<"target", "target", "std::string", /*default=*/"\"cpu\"", "The target whose rates count">,
  ];
  let dependentDialects = ["::braid::comm::CommDialect"];
}

def NoiseScalePass : Pass<"comm-noise-scale", "::mlir::func::FuncOp"> {
  let summary = "Measures how far the ranks' gradients are apart";
  let description = [{
    Adds to a training step, a program of ranks, two results:

    * `grad_sq_local`: |g|^2 of a rank's gradient, the mean over its own samples, in
      the mean over ranks;
    * `grad_sq_global`: |g|^2 of the gradient of the whole batch (before clipping).

    With n ranks along the batch and B samples (tokens) a step these estimate
    |G|^2 + tr(S) n/B and |G|^2 + tr(S)/B, where G is the true gradient and S the
    covariance of one sample's.  From the two follow both terms and the simple noise
    scale tr(S) / |G|^2 (McCandlish et al. 2018, appendix A.1).

    A rank's gradient is measured right before it is first reduced, and scaled as what
    is reduced will be; all ranks are taken to have equally many samples.  This costs a
    pass over the gradients and one all_reduce of a number, which comm-bucket may merge
    with that of the norm.  The second result is the square of the result `grad_norm`,
    which must be there (tg-apply-optimizer with `report-norm`).

    Of a rank's gradient over k microbatches (`accumulate=k`) the sum is measured where
    the accumulators hold it.  Where each microbatch is reduced (ZeRO-2 and 3), only
    that of the last is there; the first result is then the estimate for the rank's
    whole batch on the line through both: global + (micro - global) (n-1) / (nk-1).

    Where a rank alone has the batch nothing is added.  Gradients that are reduced over
    axes of the model together with those of the batch are refused.

    Input:
    ```mlir
    comm.mesh @mesh [dp = 2]
    func.func @train(%x: tensor<1x4xf32> {tg.input = "x", tg.role = "features", comm.global = tensor<2x4xf32>,
                                          comm.sharding = #comm.sharding<@mesh, {dp} {}>},
                     %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
        -> (tensor<f32> {tg.role = "grad_norm"}, tensor<4xf32> {tg.updates = "w"})
        attributes {comm.program = #comm.program<@mesh>} {
      %part = tg.reduce mean %x dims [0] : tensor<1x4xf32> -> tensor<4xf32>
      %g = comm.all_reduce mean %part over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
      %norm = tg.global_norm %g : (tensor<4xf32>) -> tensor<f32>
      %new = arith.subf %w, %g : tensor<4xf32>
      return %norm, %new : tensor<f32>, tensor<4xf32>
    }
    ```

    Output:
    ```mlir
    comm.mesh @mesh [dp = 2]
    func.func @train(%x: tensor<1x4xf32> {tg.input = "x", tg.role = "features", comm.global = tensor<2x4xf32>,
                                          comm.sharding = #comm.sharding<@mesh, {dp} {}>},
                     %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
        -> (tensor<f32> {tg.role = "grad_norm"}, tensor<4xf32> {tg.updates = "w"}, tensor<f32> {tg.role = "grad_sq_local"},
            tensor<f32> {tg.role = "grad_sq_global"})
        attributes {comm.program = #comm.program<@mesh>} {
      %part = tg.reduce mean %x dims [0] : tensor<1x4xf32> -> tensor<4xf32>
      %squares = arith.mulf %part, %part : tensor<4xf32>
      %square = tg.reduce sum %squares dims [0] : tensor<4xf32> -> tensor<f32>
      %half = arith.constant dense<5.0e-01> : tensor<f32>
      %mine = arith.mulf %square, %half : tensor<f32>
      %local = comm.all_reduce sum %mine over @mesh {dp} : (tensor<f32>) -> tensor<f32>
      %g = comm.all_reduce mean %part over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
      %norm = tg.global_norm %g : (tensor<4xf32>) -> tensor<f32>
      %new = arith.subf %w, %g : tensor<4xf32>
      %global = arith.mulf %norm, %norm : tensor<f32>
      return %norm, %new, %local, %global : tensor<f32>, tensor<4xf32>, tensor<f32>, tensor<f32>
    }
    ```
  }];
  let options = [Option<"accumulate", "accumulate", "int64_t", /*default=*/"1", "Microbatches in a step">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::braid::tg::TGDialect", "::braid::comm::CommDialect"];
}

#endif // BRAID_PASSES_PARALLEL_OVERLAP
