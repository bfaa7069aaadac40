//===- Passes.td - the collectives of a rank's program -*- tablegen -*-===//
//
// All work on programs of ranks; comm-verify-order comes last.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_COLLECTIVES
#define BRAID_PASSES_COLLECTIVES

include "passes/Base/Flag.td"
include "passes/Collectives/Chunks.td"
include "passes/Collectives/Gradients.td"
include "passes/Collectives/Rings.td"

def CommSimplifyPass : Pass<"comm-simplify", "::mlir::func::FuncOp"> {
  let summary = "Simplifies the collectives of a rank's program to fewer and smaller collectives";
  let description = [{
    The partitioner inserts plain steps: reduce partial values, gather values that must be whole, take the rank's
    own block. This pass finds steps that undo or complete each other, and applies these rules wherever they hold:

    - Equal ops are merged; unread ops are erased.
    - An axis of size 1 leaves every list; a group of one rank sends nothing.
    - An all_reduce of a value that all ranks hold multiplies by their number (sum) or does nothing (mean, max,
      min); reduce_scatter of it is a slice, broadcast nothing.
    - A slice of an all_gather over the same axes undoes it along the same dim and makes it an all_to_all along
      another. If the slice is over other axes and along another dim, it moves before the gather.
    - A slice of an all_reduce makes it a reduce_scatter over the axes they share and
      an all_reduce of the block over the others.
    - reduce_scatter and all_gather of its result are an all_reduce.
    - all_reduce of all_reduce, all_gather of all_gather, reduce_scatter of
      reduce_scatter and slice of slice are one, over both lists of axes.
    - Results of all_reduces (reduce_scatters) over the same axes that are terms of one
      sum, or of a difference, are reduced after it: a global norm of tensors that are
      sharded differently takes one reduction for each list of axes.
    - A slice of a splat constant is a constant.
    - A conversion to a narrower type comes before an all_gather, one to a wider type
      after it.

    A rule that would compute or send a value twice is applied only where nothing else reads it. Collectives between
    start and wait are left alone, and so are those whose other side is in another function. Splitting or merging a
    reduction changes the order in which floats are added.

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
  let summary = "Decomposes collectives of a rank's program into transfers between pairs of ranks";
  let description = [{
    A group of n ranks and a tensor of K elements:

    | algorithm | all_reduce | others |
    |---|---|---|
    | ring | 2(n-1) permutes of ceil(K/n), each to the next rank | all_gather, reduce_scatter: n-1 |
    | direct | 2(n-1) permutes of ceil(K/n), each to its last place | all_gather, reduce_scatter, all_to_all: n-1 |
    | tree | 2 ceil(log2 n) permutes of K | broadcast: ceil(log2 n) |
    | hierarchical | over {a, b}: reduce_scatter over b, all_reduce of 1/nb over a, all_gather over b | one axis at a time |

    Tensors are split along dim 0 where n divides it, else in the flat order, whose last block is padded. A mean is
    a sum that is divided once. A bucket stays one: each permute carries a part of every tensor, and has
    `comm.tensors` and `comm.unit` of the collective. `hierarchical` makes smaller collectives over single axes,
    which another run may decompose, and leaves groups over one axis alone.

    A result has the same bits on all ranks and in every run. Ring, direct and tree do not add in the order of
    ranks, so floats agree with the plain op's only up to rounding. Collectives that an algorithm does not support
    stay, with a remark.

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
  let options = [
    Option<"algorithm", "algorithm", "::braid::CollectiveAlgorithm", "::braid::CollectiveAlgorithm::Ring",
           "Algorithm of collectives; library: leave collectives as they are">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::braid::tg::TGDialect"];
}

def GatherUnitsPass : Pass<"comm-gather-units", "::mlir::func::FuncOp"> {
  let summary = "Gathers the parameters of a unit together, before forward and again before backward";
  let description = [{
    Where parameters are kept in shards (ZeRO-3), programs of ranks gather each parameter before its first use and
    hold it until its last use, in backward. This pass gathers the parameters of a unit together, by one collective
    for each list of axes and element type. The unit is `unit` of `#tg.param`; parameters without one are the root
    unit. One gather comes right before the unit's first use in forward (the ops that the loss depends on), another
    right before its first use in backward, for the parameters that backward needs. So a gathered parameter dies
    with its last use in forward; the second gather is a recomputation.

    One gather serves forward and backward if no other unit is gathered in between, because dropping would save
    nothing. This holds for the root unit, for the last unit, and for a unit that is also used after the last one,
    such as tied embeddings. So L units cost 2L - 1 gathers, and the root unit one. `reshard-after-forward=false`
    keeps all units: L gathers, and all parameters live at the end of forward.

    Values computed from a unit's parameters alone (a cast, a transpose) are computed
    again with them.  Gathers stand in the order in which units are used, which is reversed
    in backward; `comm.unit` names the unit.  No CSE may run afterwards.  A remark for
    each unit gives the bytes.

    In the example backward (the gradient of %a) comes after another unit's gather.

    Input:
    ```mlir
    comm.mesh @mesh [dp = 2]
    func.func @train(%x: tensor<2x4xf32> {tg.input = "x"},
                     %a: tensor<8xf32> {comm.global = tensor<4x4xf32>, comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>,
                                        tg.param = #tg.param<"a", #tg.init<ones>, unit = "1">},
                     %b: tensor<8xf32> {comm.global = tensor<4x4xf32>, comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>,
                                        tg.param = #tg.param<"b", #tg.init<ones>, unit = "2">})
        -> (tensor<2x4xf32> {tg.role = #tg.role<logits>}, tensor<2x4xf32> {tg.grad_of = "x"})
        attributes {comm.program = #comm.program<@mesh>} {
      %wa = comm.all_gather %a dims [flat] over @mesh {dp} : (tensor<8xf32>) -> tensor<4x4xf32>
      %wb = comm.all_gather %b dims [flat] over @mesh {dp} : (tensor<8xf32>) -> tensor<4x4xf32>
      %h = tg.contract "bi,io->bo" %x, %wa : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
      %y = tg.contract "bi,io->bo" %h, %wb : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
      %dh = tg.contract "bo,io->bi" %y, %wb : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
      %dx = tg.contract "bo,io->bi" %dh, %wa : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
      return %y, %dx : tensor<2x4xf32>, tensor<2x4xf32>
    }
    ```
    Output:
    ```mlir
    comm.mesh @mesh [dp = 2]
    func.func @train(%x: tensor<2x4xf32> {tg.input = "x"},
                     %a: tensor<8xf32> {comm.global = tensor<4x4xf32>, comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>,
                                        tg.param = #tg.param<"a", #tg.init<ones>, unit = "1">},
                     %b: tensor<8xf32> {comm.global = tensor<4x4xf32>, comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>,
                                        tg.param = #tg.param<"b", #tg.init<ones>, unit = "2">})
        -> (tensor<2x4xf32> {tg.role = #tg.role<logits>}, tensor<2x4xf32> {tg.grad_of = "x"})
        attributes {comm.program = #comm.program<@mesh>} {
      %wa = comm.all_gather %a dims [flat] over @mesh {dp} {comm.unit = "1"} : (tensor<8xf32>) -> tensor<4x4xf32>
      %h = tg.contract "bi,io->bo" %x, %wa : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
      %wb = comm.all_gather %b dims [flat] over @mesh {dp} {comm.unit = "2"} : (tensor<8xf32>) -> tensor<4x4xf32>
      %y = tg.contract "bi,io->bo" %h, %wb : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
      %dh = tg.contract "bo,io->bi" %y, %wb : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
      %again = comm.all_gather %a dims [flat] over @mesh {dp} {comm.unit = "1"} : (tensor<8xf32>) -> tensor<4x4xf32>
      %dx = tg.contract "bo,io->bi" %dh, %again : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
      return %y, %dx : tensor<2x4xf32>, tensor<2x4xf32>
    }
    ```
  }];
  let options = [
    Flag<"Rank", "--reshard-after-forward", "units", "reshardAfterForward", "reshard-after-forward", "bool",
         /*default=*/"true", "With --zero=3: drop gathered parameters after forward and gather them again for backward",
         [{choice({"false", "true"}).alone("true")}]>,
  ];
  let dependentDialects = ["::braid::comm::CommDialect"];
}

def BucketPass : Pass<"comm-bucket", "::mlir::func::FuncOp"> {
  let summary = "Merges collectives of many tensors into buckets";
  let description = [{
    A message costs a latency, however small. A bucket is one collective over several tensors, each in its own
    place. These are merged where op, reduction, element type and group are equal:

    * reductions of gradients: the result becomes, element by element, the new value of a parameter or of its
      gradient accumulator;
    * gathers of parameters that have been updated (ZeRO-1 and 2);
    * reductions of other state, and of single numbers (loss, count, norm, whether to stop), where merging makes
      nothing wait.

    Gathers of stored parameters are left to comm-gather-units, and collectives of
    activations alone.

    Parameters are visited in reverse order of the arguments, because gradients become ready in that order. The
    first bucket holds at most `first-bucket-mb`, the others `bucket-mb`, in MiB of whole tensors, so the first can
    be sent early. A tensor is never split; a larger tensor has a bucket of its own. 0 means one tensor each, `inf`
    no limit. Single numbers have no limit either.

    `auto` computes the limit from the link of the machine (`exec-set-machine`). A collective of K bytes over n
    ranks takes m latencies and c K / rate. For all_reduce m = 2 (n-1) and c = 2 (n-1)/n; for others both are half
    of that. A bucket ends when latency is a twentieth of its time: K = 19 m latency rate / c = 19 n latency rate.
    If fewer bytes are left behind it, it takes them, too. The first bucket has the same limit as the others.

    `per-unit=auto` ends a bucket where the unit changes if the parameter is stored in shards (ZeRO-3): the unit's
    gradients are then reduced and dropped together. The results of a bucket stay one bucket when they are sent
    again: the all_reduce across replicas follows the reduce_scatter within a node.

    A bucket stands behind the op that makes its last tensor; readers of the results follow, in the old order.
    Tensors that depend on each other's results are never merged. A remark lists the contents of each bucket.

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
    Flag<"Communication", "--bucket-mb", "buckets", "bucketMb", "bucket-mb", "std::string", /*default=*/"\"25\"",
         "Size in MiB of a bucket of tensors that are reduced or gathered together; 0: one collective per tensor; "
         "inf: one collective for all; auto: chosen from --link",
         [{number("MiB", 0, 0x1p40).orOneOf({"inf", "auto"})}]>,
    Flag<"Communication", "--first-bucket-mb", "buckets", "firstBucketMb", "first-bucket-mb", "std::string",
         /*default=*/"\"1\"", "Size in MiB of the first bucket of backward",
         [{number("MiB", 0, 0x1p40).orOneOf({"inf"})}]>,
    Option<"perUnit", "per-unit", "::braid::BucketPerUnit", "::braid::BucketPerUnit::Auto",
           "Whether a bucket ends with its unit; auto: if parameters are stored in shards">,
  ];
}

def NameTensorsPass : Pass<"comm-name-tensors", "::mlir::func::FuncOp"> {
  let summary = "Names the parameters whose tensors each collective sends";
  let description = [{
    Reports are about parameters, but the tensors of a bucket are results of ops in backward. In a program of ranks
    each collective gets `comm.tensors`, a name for each tensor that it sends:

    * for a reduction, and for a gather of updated parameters, the parameter or state whose new value the result
      becomes, as comm-bucket finds it;
    * for a gather of stored parameters, the parameter;
    * for another argument, its name;
    * for a single number, the role of the result that it becomes (`loss`, `grad_norm`). A number that depends on no
      parameter is named as a count, which the loss is divided by.

    A tensor that is none of these, such as an activation, leaves the collective without
    names.  Only reports read them.

    Input:
    ```mlir
    comm.mesh @mesh [dp = 2]
    func.func @train(%w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                     %x: tensor<4xf32> {tg.input = "x", comm.sharding = #comm.sharding<@mesh, {dp}>, comm.global = tensor<8xf32>})
        -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<4xf32> {tg.updates = "w"})
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
        -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<4xf32> {tg.updates = "w"})
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

def VerifyOrder : Pass<"comm-verify-order", "::mlir::ModuleOp"> {
  let summary = "Checks that ranks do not deadlock and issue the same collectives";
  let description = [{
    A rank computes, and has one queue: a thread that communicates in the order of the starts. A collective outside
    comm.start is a start with its wait. The collective at the head of the queue ends when it has matched the heads
    of all ranks of its group; a send or recv needs only the head of the other rank. A function with `comm.program`
    for all ranks is a program by itself. Functions for coordinates along an axis of one mesh are one program
    together, in which every rank has one function. Programs in memory form (exec.program with the same attribute)
    are checked likewise.

    The pass simulates the ranks to their end. Ranks that a symmetry of the mesh maps onto each other are in the
    same state, so the pass simulates one of them: one rank of an SPMD program, one rank a stage of a pipeline of
    data parallel stages.

    These are errors:

    * ranks that wait for one another;
    * a send or collective without a match on the other side;
    * ranks that issue the same collective with another op, reduction, root, dims, pairs or tensors;
    * ranks with two functions or none;
    * tickets that are not waited for exactly once;
    * ranks that move different values, even if the types agree; on values, an operand that is not the named value.

    Passes that cut a program into functions of ranks name these values: they put `comm.moved` on each collective
    between the functions, with names of arguments and numbers of results. exec-verify-plan checks, in memory form,
    that no action touches the bytes of a collective in flight.

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

    Two stages, whose sends and recvs match in the order of the sends; the second has data parallel
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

def PrintTrafficPass : Pass<"comm-print-traffic", "::mlir::func::FuncOp"> {
  let summary = "Emits remarks with the bytes that each collective and the function send";
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

#endif // BRAID_PASSES_COLLECTIVES
