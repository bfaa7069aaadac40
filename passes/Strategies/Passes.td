//===- Passes.td - the state and the agreements of ranks -----*- tablegen -*-===//
//
// Strategies annotate programs, in the order in which the passes run. Layouts and data parallelism annotate;
// comm-root-parallel comes after comm-shard.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_STRATEGIES
#define BRAID_PASSES_STRATEGIES

include "passes/Base/Flag.td"

def AnnotatePass : Pass<"comm-annotate", "::mlir::ModuleOp"> {
  let summary = "Writes shardings onto arguments by their names";
  let description = [{
    `layout` (or the file `layout-file`) has one statement a line; `;` also ends a line, and `#` begins a comment:

    * `mesh dp = 2, tp = 4` adds the mesh @mesh. With it the module must have no mesh, without it exactly one.
    * `NAME: AXES` gives the parameters, states and inputs of this name the sharding `#comm.sharding<@mesh, AXES>`.
      `*`, `?` and `[...]` in a name are wildcards, and the first statement that matches applies. A statement that
      gives no axes for dims (`flat {dp}, priority 1`) fits tensors of any rank. Dims are the dims in the graph,
      even for a matrix that the arena holds transposed.

    A statement that matches no name is an error, and so is one for an argument that is annotated. Data (`tg.input`)
    are read in whole rows; tokens may also be read in parts of rows. A statement that asks for another part of data
    is an error, and so is one that shards an input of the batch over `batch-axes`. The one row of a program that
    generates text stays whole.

    Input (`layout='mesh dp = 2, tp = 2; x: {dp} {}; *.weight: {} {tp}, flat {dp}, priority 1'`):
    ```mlir
    func.func @f(%x: tensor<4x8xf32> {tg.input = "x"},
                 %w: tensor<8x6xf32> {tg.param = #tg.param<"h.0.weight", #tg.init<ones>>}) -> tensor<4x6xf32> {
      %y = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
      return %y : tensor<4x6xf32>
    }
    ```
    Output:
    ```mlir
    comm.mesh @mesh [dp = 2, tp = 2]
    func.func @f(%x: tensor<4x8xf32> {tg.input = "x", comm.sharding = #comm.sharding<@mesh, {dp} {}>},
                 %w: tensor<8x6xf32> {tg.param = #tg.param<"h.0.weight", #tg.init<ones>>,
                                      comm.sharding = #comm.sharding<@mesh, {} {tp}, flat {dp}, priority 1>})
        -> tensor<4x6xf32> {
      %y = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
      return %y : tensor<4x6xf32>
    }
    ```
  }];
  let options = [
    Option<"layout", "layout", "std::string", /*default=*/"", "Statements of the layout">,
    Option<"layoutFile", "layout-file", "std::string", /*default=*/"", "File with the statements">,
    ListOption<"functions", "functions", "std::string", "Functions to annotate (default: all)">,
    ListOption<"batchAxes", "batch-axes", "std::string",
               "Axes over which comm-data-parallel shards the batch, and the layout must not (default: none)">,
  ];
  let dependentDialects = ["::braid::comm::CommDialect"];
}

def AgreePass : Pass<"comm-agree", "::mlir::ModuleOp"> {
  let summary = "Adds the values that the ranks of a training binary must agree on";
  let description = [{
    The runtime issues no collective of its own. A value to agree on is an argument that holds a partial value on
    each rank, and a result that is whole:

    * @train, if there is one, takes and returns `stop`. The argument is 1 on a rank that was asked to stop, else 0;
      the result is the number of such ranks.
    * @agree takes eight integers and returns the maximum over the ranks of each.
    * A program that generates text has whole logits, from which all ranks draw the same token.

    Each of the first two becomes one all_reduce. The module must have exactly one mesh. Runs after comm-annotate,
    so that no pattern of a layout matches these arguments, and before comm-shard.

    Input:
    ```mlir
    comm.mesh @mesh [dp = 2, tp = 2]
    func.func @train(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>}) -> (tensor<4x8xf32> {tg.role = #tg.role<logits>}) {
      return %x : tensor<4x8xf32>
    }
    ```
    Output:
    ```mlir
    comm.mesh @mesh [dp = 2, tp = 2]
    func.func @train(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>},
                     %stop: tensor<f32> {comm.sharding = #comm.sharding<@mesh, partial sum {dp, tp}>, tg.input = "stop", tg.role = #tg.role<stop>})
        -> (tensor<4x8xf32> {tg.role = #tg.role<logits>},
            tensor<f32> {comm.sharding = #comm.sharding<@mesh>, tg.role = #tg.role<stop>}) {
      return %x, %stop : tensor<4x8xf32>, tensor<f32>
    }
    func.func @agree(%values: tensor<8xi32> {comm.sharding = #comm.sharding<@mesh, {}, partial max {dp, tp}>, tg.input = "values", tg.role = #tg.role<values>})
        -> (tensor<8xi32> {comm.sharding = #comm.sharding<@mesh, {}>, tg.role = #tg.role<values>}) {
      return %values : tensor<8xi32>
    }
    ```
  }];
  let dependentDialects = ["::braid::comm::CommDialect", "::braid::tg::TGDialect", "::mlir::func::FuncDialect"];
}

def DataParallelPass : Pass<"comm-data-parallel", "::mlir::ModuleOp"> {
  let summary = "Annotates programs for data parallelism and ZeRO";
  let description = [{
    The batch (dim 0 of tokens, targets, features and labels) is sharded over `axes`. `zero` shards more, in flat
    ranges over `shard`, except for axes that already shard a dim of the tensor. `shard` defaults to `axes`; fewer
    axes keep replicas, as in hybrid sharding:

    | zero | parameters | gradient accumulators | optimizer state |
    |---|---|---|---|
    | 0 (DDP) | whole | partial sums | whole |
    | 1 | whole | partial sums | sharded |
    | 2 | whole | sharded | sharded |
    | 3 (FSDP) | sharded | sharded | sharded |

    (Rajbhandari et al. 2020.) The pass decides nothing else. Reducing gradients into the shards that the optimizer
    updates, and gathering new parameters from them, follows from the annotations. With replicas a gradient is first
    reduced into its shard, and then the shards are summed over the replicas.

    Accumulators that hold partial sums communicate nothing until the last microbatch; sharded accumulators reduce
    each microbatch into the shards (the sum over replicas waits for the last). `unreduced-accumulators` avoids this
    communication and takes more memory. Accumulators of the loss and the count are scalars and always partial.

    Optimizer state is a state that is named after a parameter and has its shape. Other states are the model's own
    (running statistics, counters), and every rank holds all of them. Each program that updates them synchronises
    them: their inputs are reduced, so their new values equal those of one rank with the whole batch.

    `sequence` names axes over which dim 1 of tokens and targets, the positions, is sharded as well. Gradients are
    sums over these ranks, too, and `shard` may name these axes.

    A parameter that no forward pass reads has no gradient. From stage 1 on it is sharded, so that its update takes
    no collective either.

    Existing annotations stay and are sharded further; flat and partial ones are left alone. A state follows the
    annotation of its parameter. Scalars are not sharded. Where an axis of the batch already shards a dim of a
    parameter with priority 0, as comm-expert-parallel shards experts, the batch gets priority 1 and yields. A rank
    then has summands of that parameter's gradient over the other axes of the batch alone, and ZeRO shards over the
    remaining axes: the experts over dp, all other parameters over dp and ep.

    A program without a loss and without updates, such as one that generates text, is not sharded by its batch.
    Every rank computes all of it, from parameters that are kept as in the other programs.

    Input (`axes=dp zero=1`):
    ```mlir
    comm.mesh @mesh [dp = 2]
    func.func @train(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>},
                     %w: tensor<8xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                     %m: tensor<8xf32> {tg.state = #tg.state<"w.exp_avg", #tg.init<zeros>, of = "w", kind = moment>})
        -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<8xf32> {tg.updates = "w.exp_avg"}) {
      %loss = tg.reduce sum %w dims [0] : tensor<8xf32> -> tensor<f32>
      return %loss, %m : tensor<f32>, tensor<8xf32>
    }
    ```
    Output:
    ```mlir
    comm.mesh @mesh [dp = 2]
    func.func @train(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>, tg.input = "x", tg.role = #tg.role<features>},
                     %w: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, priority 1>, tg.param = #tg.param<"w", #tg.init<ones>>},
                     %m: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, flat {dp}, priority 1>, tg.state = #tg.state<"w.exp_avg", #tg.init<zeros>, of = "w", kind = moment>})
        -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<8xf32> {tg.updates = "w.exp_avg"}) {
      %loss = tg.reduce sum %w dims [0] : tensor<8xf32> -> tensor<f32>
      return %loss, %m : tensor<f32>, tensor<8xf32>
    }
    ```
  }];
  let options = [
    ListOption<"axes", "axes", "std::string", "Axes that shard the batch">,
    ListOption<"sequence", "sequence", "std::string",
               "Axes that shard the positions of tokens and targets (default: none)">,
    ListOption<"shard", "shard", "std::string", "Axes over which ZeRO shards (default: the axes of the batch)">,
    Option<"zero", "zero", "::braid::Integer<0, 3>", /*default=*/"0", "Stage of ZeRO, from 0 to 3">,
    Flag<"Rank", "--unreduced-accumulators", "dataParallel", "keepUnreduced", "unreduced-accumulators", "bool",
         /*default=*/"false", "With --zero=2, 3 and --accumulate: reduce gradients once a step from full-size partial "
                              "sums; by default each microbatch is reduced into the shard">,
  ];
  let dependentDialects = ["::braid::comm::CommDialect"];
}

def ExpertParallelPass : Pass<"comm-expert-parallel", "::mlir::ModuleOp"> {
  let summary = "Shards the weights of experts by expert";
  let description = [{
    An op that sends tokens to experts names the dim of its result that tells experts apart (`RoutingOpInterface`:
    `tg.dispatch`). By the ops' sharding rules, values computed separately for each expert have a dim for the same
    factor. These are activations, and weights such as those of a contraction with a batch dim. The weights are
    sharded along that dim over `axes`.

    The pass decides nothing else. The batch may be sharded over the same axes, and the sequence over some of them
    (comm-data-parallel). Both yield where experts are sharded: tokens then go to the ranks of their experts and
    back, each by an all_to_all.

    Weights with annotations are left alone. A remark gives the choice as a layout. A model without such weights is
    an error, and so is a number of experts that the ranks do not divide.

    Input (`axes=ep`):
    ```mlir
    comm.mesh @mesh [ep = 2]
    func.func @model(%x: tensor<2x6x8xf32> {tg.input = "x", tg.role = #tg.role<features>}, %chosen: tensor<2x6x2xi32> {tg.input = "chosen"},
                     %up: tensor<4x16x8xf32> {tg.param = #tg.param<"experts.*.up", #tg.init<ones>>},
                     %down: tensor<4x8x16xf32> {tg.param = #tg.param<"experts.*.down", #tg.init<ones>>}) -> tensor<2x6x2x8xf32> {
      %slots, %choices = tg.expert_slots %chosen capacity 3 of 4 : tensor<2x6x2xi32> -> (tensor<2x6x2xi32>, tensor<4x2x3xi32>)
      %in = tg.dispatch %x, %slots, %choices : (tensor<2x6x8xf32>, tensor<2x6x2xi32>, tensor<4x2x3xi32>) -> tensor<4x2x3x8xf32>
      %h = tg.contract "ebcd,efd->ebcf" %in, %up : (tensor<4x2x3x8xf32>, tensor<4x16x8xf32>) -> tensor<4x2x3x16xf32>
      %a = tg.silu %h : tensor<4x2x3x16xf32>
      %out = tg.contract "ebcf,edf->ebcd" %a, %down : (tensor<4x2x3x16xf32>, tensor<4x8x16xf32>) -> tensor<4x2x3x8xf32>
      %y = tg.collect %out, %slots, %choices : (tensor<4x2x3x8xf32>, tensor<2x6x2xi32>, tensor<4x2x3xi32>) -> tensor<2x6x2x8xf32>
      return %y : tensor<2x6x2x8xf32>
    }
    ```
    Output:
    ```mlir
    comm.mesh @mesh [ep = 2]
    func.func @model(%x: tensor<2x6x8xf32> {tg.input = "x", tg.role = #tg.role<features>}, %chosen: tensor<2x6x2xi32> {tg.input = "chosen"},
                     %up: tensor<4x16x8xf32> {comm.sharding = #comm.sharding<@mesh, {ep} {} {}>, tg.param = #tg.param<"experts.*.up", #tg.init<ones>>},
                     %down: tensor<4x8x16xf32> {comm.sharding = #comm.sharding<@mesh, {ep} {} {}>, tg.param = #tg.param<"experts.*.down", #tg.init<ones>>}) -> tensor<2x6x2x8xf32> {
      %slots, %choices = tg.expert_slots %chosen capacity 3 of 4 : tensor<2x6x2xi32> -> (tensor<2x6x2xi32>, tensor<4x2x3xi32>)
      %in = tg.dispatch %x, %slots, %choices : (tensor<2x6x8xf32>, tensor<2x6x2xi32>, tensor<4x2x3xi32>) -> tensor<4x2x3x8xf32>
      %h = tg.contract "ebcd,efd->ebcf" %in, %up : (tensor<4x2x3x8xf32>, tensor<4x16x8xf32>) -> tensor<4x2x3x16xf32>
      %a = tg.silu %h : tensor<4x2x3x16xf32>
      %out = tg.contract "ebcf,edf->ebcd" %a, %down : (tensor<4x2x3x16xf32>, tensor<4x8x16xf32>) -> tensor<4x2x3x8xf32>
      %y = tg.collect %out, %slots, %choices : (tensor<4x2x3x8xf32>, tensor<2x6x2xi32>, tensor<4x2x3xi32>) -> tensor<2x6x2x8xf32>
      return %y : tensor<2x6x2x8xf32>
    }
    ```
  }];
  let options = [
    ListOption<"axes", "axes", "std::string", "Axes that shard experts (default: ep)">,
  ];
  let dependentDialects = ["::braid::comm::CommDialect"];
}

def TensorParallelPass : Pass<"comm-tensor-parallel", "::mlir::ModuleOp"> {
  let summary = "Chooses the dims of weights that an axis shards";
  let description = [{
    Runs on a model before differentiation. Each op may be divided by the ranks of `axis` along one factor of its
    sharding rule, but not along the batch. The communication, forward and backward, follows from the rules. The
    pass takes the choice with the fewest bytes of weights a rank, and among equal ones the choice that sends the
    fewest bytes: an exact search over the whole graph (`lib/Sharding/LayoutSearch.h`). Each collective counts as
    additional bytes: those that its link sends in one latency (by `exec.machine`, else 250,000). Weights are
    parameters that are contracted or looked up by index; tables are sharded by their rows. For a transformer this
    gives the layout of Megatron-LM: columns, then rows, for each pair of contractions, heads, and the vocabulary.

    With `sequence` the axis may shard the sequence of activations, too. The pass then first minimizes the bytes of
    the sequence that a rank holds, and second the bytes sent. Activations between attention and the MLP (norms,
    residuals, dropout) are sharded by positions. Each all_reduce becomes a reduce_scatter and an all_gather
    (Korthikanti et al. 2022). `comm.constrain` marks where the layout changes. Positions that the ranks do not
    divide are refused.

    A remark gives the choice as a layout. A model whose arguments name the axis is left alone. The axis does not
    shard dims of weights that other axes shard, as comm-expert-parallel shards experts, nor values that are sharded
    with them.

    Input (`axis=tp`):
    ```mlir
    comm.mesh @mesh [tp = 2]
    func.func @mlp(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>},
                   %w1: tensor<8x16xf32> {tg.param = #tg.param<"w1", #tg.init<ones>>},
                   %w2: tensor<16x8xf32> {tg.param = #tg.param<"w2", #tg.init<ones>>})
        -> tensor<4x8xf32> {
      %h = tg.contract "bd,df->bf" %x, %w1 : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
      %a = tg.gelu tanh %h : tensor<4x16xf32>
      %y = tg.contract "bf,fd->bd" %a, %w2 : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
      return %y : tensor<4x8xf32>
    }
    ```
    Output:
    ```mlir
    comm.mesh @mesh [tp = 2]
    func.func @mlp(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>},
                   %w1: tensor<8x16xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>, tg.param = #tg.param<"w1", #tg.init<ones>>},
                   %w2: tensor<16x8xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>, tg.param = #tg.param<"w2", #tg.init<ones>>})
        -> tensor<4x8xf32> {
      %h = tg.contract "bd,df->bf" %x, %w1 : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
      %a = tg.gelu tanh %h : tensor<4x16xf32>
      %y = tg.contract "bf,fd->bd" %a, %w2 : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
      return %y : tensor<4x8xf32>
    }
    ```
  }];
  let options = [
    Option<"axis", "axis", "std::string", /*default=*/"\"tp\"", "Mesh axis that shards weights">,
    Flag<"Layout", "--sequence-parallel", "tensor", "sequence", "sequence", "bool", /*default=*/"false",
         "Let tp also shard activations between attention and the MLP (norms, residuals, dropout) by positions">,
    ListOption<"sequenceAxes", "sequence-axes", "std::string",
               "Other axes that already shard the sequence (default: none)">,
  ];
  let dependentDialects = ["::braid::comm::CommDialect"];
}

def ContextParallelPass : Pass<"comm-context-parallel", "::mlir::ModuleOp"> {
  let summary = "Chooses how ranks with parts of a sequence read positions of other ranks";
  let description = [{
    `axes` shard the positions of tokens and targets. An op in which positions read earlier ones
    (`CausalOpInterface`: attention reads keys and values) then needs positions of other ranks:

    * `gather`: adds no annotation, so the sharding rules hold. Every rank gathers the values that are read at other
      positions, and computes its own positions;
    * `ring`: the same, and `comm.ring` on the module tells comm-form-rings to send blocks round the ranks instead.
      An op that cannot be computed block by block is an error;
    * `ulysses`: operands with a sequence are constrained to have it whole, and to have the heads sharded instead,
      behind `head-axes`; the results change back. Each is an all_to_all (Jacobs et al. 2023). Heads of keys and
      values that the ranks do not divide are an error;
    * `auto`: the choice with the least predicted time on the slowest rank. Except in zigzag and for `ulysses`, the
      last rank of a sequence has almost twice its share of a causal mask. `ulysses` is a candidate where the ranks
      divide the heads. Blocks of a ring arrive while others are computed. `ring` wins over `gather` if it is at
      most 5% slower, because `gather` keeps the positions of all ranks for backward. A remark gives the times.

    `order` decides which positions a rank has. In zigzag (`comm.zigzag` on the module) rank i of c has blocks i and
    2c - 1 - i of 2c, so that all ranks have equal shares of a causal mask. Zigzag needs a ring of causal ops and a
    sequence that 2c divides. `auto` takes it where possible; otherwise a remark gives the reason.

    Input (`axes=cp how=ulysses`):
    ```mlir
    comm.mesh @mesh [cp = 2]
    func.func @model(%q: tensor<2x8x4x3xf32> {tg.input = "q"}, %k: tensor<2x8x2x3xf32> {tg.input = "k"},
                     %v: tensor<2x8x2x3xf32> {tg.input = "v"}) -> tensor<2x8x4x3xf32> {
      %y, %lse = tg.attention %q, %k, %v scale 0.5 causal
          : (tensor<2x8x4x3xf32>, tensor<2x8x2x3xf32>, tensor<2x8x2x3xf32>) -> (tensor<2x8x4x3xf32>, tensor<2x4x8xf32>)
      return %y : tensor<2x8x4x3xf32>
    }
    ```
    Output:
    ```mlir
    comm.mesh @mesh [cp = 2]
    func.func @model(%q: tensor<2x8x4x3xf32> {tg.input = "q"}, %k: tensor<2x8x2x3xf32> {tg.input = "k"},
                     %v: tensor<2x8x2x3xf32> {tg.input = "v"}) -> tensor<2x8x4x3xf32> {
      %0 = comm.constrain %q <@mesh, {?} {} {cp} {?}> : tensor<2x8x4x3xf32>
      %1 = comm.constrain %k <@mesh, {?} {} {cp} {?}> : tensor<2x8x2x3xf32>
      %2 = comm.constrain %v <@mesh, {?} {} {cp} {?}> : tensor<2x8x2x3xf32>
      %y, %lse = tg.attention %0, %1, %2 scale 0.5 causal
          : (tensor<2x8x4x3xf32>, tensor<2x8x2x3xf32>, tensor<2x8x2x3xf32>) -> (tensor<2x8x4x3xf32>, tensor<2x4x8xf32>)
      %3 = comm.constrain %y <@mesh, {?} {cp} {} {?}> : tensor<2x8x4x3xf32>
      return %3 : tensor<2x8x4x3xf32>
    }
    ```
  }];
  let options = [
    ListOption<"axes", "axes", "std::string", "Axes that shard the sequence">,
    ListOption<"otherHeadAxes", "head-axes", "std::string", "Axes that already shard heads (default: none)">,
    ListOption<"behindAxes", "behind-axes", "std::string",
               "Axes that shard the sequence, minor to `axes` (default: none)">,
    ListOption<"stageAxes", "stage-axes", "std::string",
               "For auto: axes of pipeline stages, whose ranks do not divide ops (default: none)">,
    Flag<"Layout", "--context", "context", "how", "how", "::braid::ContextMethod", "::braid::ContextMethod::Auto",
         "With cp in --mesh: exchange by which attention reads positions of other ranks">,
    Flag<"Layout", "--context-order", "context", "order", "order", "::braid::ContextOrder",
         "::braid::ContextOrder::Auto", "With cp in --mesh: assignment of positions to ranks">,
  ];
  let dependentDialects = ["::braid::comm::CommDialect"];
}

def RootParallelPass : Pass<"comm-root-parallel", "::mlir::ModuleOp"> {
  let summary = "Keeps parameters and state on one rank, which serves the others (classic data parallelism)";
  let description = [{
    Takes programs of plain data parallelism (zero=0, one axis), in which every rank keeps and updates everything,
    and makes two functions of each. Rank 0, the root, keeps parameters, state and inputs. In each step it scatters
    the batch and broadcasts the values that the other ranks, the workers, need. Gradients and the loss are reduced
    to the root, outputs with a batch are gathered there, and only the root updates. Workers keep nothing between
    steps and run only ops that lead to sent values; a sum that they use (the count of a mean) stays an all_reduce.

    At the end the root broadcasts the results that all ranks read, which have a role and no batch: the loss, the
    norm. An input to which each rank adds its own term (a partial value, as comm-agree makes) is an input of the
    workers, too.

    The programs move the batch and the outputs in addition to the bytes of DDP, and the workers wait while the root
    updates. comm-print-traffic shows both.

    Input (`function=f`):
    ```mlir
    comm.mesh @mesh [dp = 4]
    func.func @f(%x: tensor<2x3xf32> {comm.global = tensor<8x3xf32>, comm.sharding = #comm.sharding<@mesh, {dp} {}>, tg.input = "x"},
                 %w: tensor<3xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
        -> (tensor<3xf32> {tg.updates = "w"}) attributes {comm.program = #comm.program<@mesh>} {
      %r = tg.broadcast %w dims [1] : tensor<3xf32> -> tensor<2x3xf32>
      %y = arith.mulf %x, %r : tensor<2x3xf32>
      %p = tg.reduce sum %y dims [0] : tensor<2x3xf32> -> tensor<3xf32>
      %g = comm.all_reduce sum %p over @mesh {dp} : (tensor<3xf32>) -> tensor<3xf32>
      %new = arith.subf %w, %g : tensor<3xf32>
      return %new : tensor<3xf32>
    }
    ```
    Output:
    ```mlir
    comm.mesh @mesh [dp = 4]
    func.func @f(%all: tensor<8x3xf32> {tg.input = "x"}, %w: tensor<3xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
        -> (tensor<3xf32> {tg.updates = "w"}) attributes {comm.entry = "f", comm.program = #comm.program<@mesh, dp = [0]>} {
      %x = comm.scatter %all dims [0] root 0 over @mesh {dp} {comm.moved = ["x"]} : (tensor<8x3xf32>) -> tensor<2x3xf32>
      comm.broadcast %w root 0 over @mesh {dp} {comm.moved = ["w"]} : (tensor<3xf32>) -> ()
      %r = tg.broadcast %w dims [1] : tensor<3xf32> -> tensor<2x3xf32>
      %y = arith.mulf %x, %r : tensor<2x3xf32>
      %p = tg.reduce sum %y dims [0] : tensor<2x3xf32> -> tensor<3xf32>
      %g = comm.reduce sum %p root 0 over @mesh {dp} {comm.moved = [6]} : (tensor<3xf32>) -> tensor<3xf32>
      %new = arith.subf %w, %g : tensor<3xf32>
      return %new : tensor<3xf32>
    }
    func.func @f_workers() attributes {comm.entry = "f", comm.program = #comm.program<@mesh, dp = [1, 2, 3]>} {
      %x = comm.scatter dims [0] root 0 over @mesh {dp} {comm.moved = ["x"]} : () -> tensor<2x3xf32>
      %b = comm.broadcast root 0 over @mesh {dp} {comm.moved = ["w"]} : () -> tensor<3xf32>
      %r = tg.broadcast %b dims [1] : tensor<3xf32> -> tensor<2x3xf32>
      %y = arith.mulf %x, %r : tensor<2x3xf32>
      %p = tg.reduce sum %y dims [0] : tensor<2x3xf32> -> tensor<3xf32>
      comm.reduce sum %p root 0 over @mesh {dp} {comm.moved = [6]} : (tensor<3xf32>) -> ()
      return
    }
    ```
  }];
  let options = [Option<"function", "function", "std::string", "",
                        "Program to split; empty: every program that all ranks run">];
  let dependentDialects = ["::braid::comm::CommDialect"];
}

#endif // BRAID_PASSES_STRATEGIES
