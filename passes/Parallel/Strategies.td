//===- Strategies.td - what each rank keeps, and agrees on -----*- tablegen -*-===//
//
// Strategies are annotations of programs, and passes by name that move what
// follows from them.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_PARALLEL_STRATEGIES
#define BRAID_PASSES_PARALLEL_STRATEGIES

include "mlir/Pass/PassBase.td"

def AgreePass : Pass<"comm-agree", "::mlir::ModuleOp"> {
  let summary = "Adds what the ranks of a training binary must agree on";
  let description = [{
    The runtime issues no collective of its own.  What ranks must agree on is an
    argument that holds a partial value on each rank and a result that is whole:

    * @train, if there is one, takes `stop` and returns it: on each rank 1 if that
      rank was asked to stop, 0 if not; the result is the number of ranks that were
      asked to.
    * @agree takes eight integers and returns the maximum over the ranks of each.

    Each becomes one all_reduce.  The module has one mesh; runs after comm-annotate,
    whose patterns do not mean these arguments, and before comm-shard.

    Input:
    ```mlir
    comm.mesh @mesh [dp = 2, tp = 2]
    func.func @train(%x: tensor<4x8xf32> {tg.input = "x", tg.role = "features"}) -> (tensor<4x8xf32> {tg.role = "logits"}) {
      return %x : tensor<4x8xf32>
    }
    ```
    Output:
    ```mlir
    comm.mesh @mesh [dp = 2, tp = 2]
    func.func @train(%x: tensor<4x8xf32> {tg.input = "x", tg.role = "features"},
                     %stop: tensor<f32> {comm.sharding = #comm.sharding<@mesh, partial sum {dp, tp}>, tg.input = "stop", tg.role = "stop"})
        -> (tensor<4x8xf32> {tg.role = "logits"},
            tensor<f32> {comm.sharding = #comm.sharding<@mesh>, tg.role = "stop"}) {
      return %x, %stop : tensor<4x8xf32>, tensor<f32>
    }
    func.func @agree(%values: tensor<8xi32> {comm.sharding = #comm.sharding<@mesh, {}, partial max {dp, tp}>, tg.input = "values", tg.role = "values"})
        -> (tensor<8xi32> {comm.sharding = #comm.sharding<@mesh, {}>, tg.role = "values"}) {
      return %values : tensor<8xi32>
    }
    ```
  }];
  let dependentDialects = ["::braid::comm::CommDialect"];
}

def DataParallelPass : Pass<"comm-data-parallel", "::mlir::ModuleOp"> {
  let summary = "Annotates programs for data parallelism, with what ZeRO cuts";
  let description = [{
    The batch (dim 0 of tokens, targets, features and labels) is cut over `axes`.
    `zero` says what else is cut, in flat shards over `shard` (by default `axes`;
    fewer axes keep replicas, as hybrid sharding does):

    | zero | parameters | gradient accumulators | optimizer state |
    |---|---|---|---|
    | 0 (DDP) | whole | partial sums | whole |
    | 1 | whole | partial sums | cut |
    | 2 | whole | cut | cut |
    | 3 (FSDP) | cut | cut | cut |

    (Rajbhandari et al. 2020.)  Nothing else is decided here: that gradients are
    reduced into the shards that the optimizer updates, and new parameters gathered
    from them, follows.  Accumulators that hold partial sums communicate nothing
    until the last microbatch; those that are cut reduce each microbatch, unless
    `unreduced-accumulators` trades their memory for that.

    Annotations that are there stay and are cut further; flat and partial ones are
    left alone.  Scalars are not cut.

    A program that has no loss and updates nothing, as one that generates text, is
    not cut by its batch: every rank computes all of it, from parameters that are
    kept as in the others.

    Input (`axes=dp zero=1`):
    ```mlir
    comm.mesh @mesh [dp = 2]
    func.func @train(%x: tensor<4x8xf32> {tg.input = "x", tg.role = "features"},
                     %w: tensor<8xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                     %m: tensor<8xf32> {tg.state = #tg.state<"w.exp_avg", #tg.init<zeros>>})
        -> (tensor<8xf32> {tg.updates = "w.exp_avg"}) {
      return %m : tensor<8xf32>
    }
    ```
    Output:
    ```mlir
    comm.mesh @mesh [dp = 2]
    func.func @train(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>, tg.input = "x", tg.role = "features"},
                     %w: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, priority 1>, tg.param = #tg.param<"w", #tg.init<ones>>},
                     %m: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, flat {dp}, priority 1>, tg.state = #tg.state<"w.exp_avg", #tg.init<zeros>>})
        -> (tensor<8xf32> {tg.updates = "w.exp_avg"}) {
      return %m : tensor<8xf32>
    }
    ```
  }];
  let options = [
    ListOption<"axes", "axes", "std::string", "The axes over which the batch is cut">,
    ListOption<"shard", "shard", "std::string", "The axes over which ZeRO cuts (those of the batch)">,
    Option<"zero", "zero", "unsigned", /*default=*/"0", "The stage of ZeRO, 0 to 3">,
    Option<"keepUnreduced", "unreduced-accumulators", "bool", /*default=*/"false",
           "Accumulators hold partial sums at every stage">,
  ];
  let dependentDialects = ["::braid::comm::CommDialect"];
}

#endif // BRAID_PASSES_PARALLEL_STRATEGIES
