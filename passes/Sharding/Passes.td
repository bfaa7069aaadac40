//===- Passes.td - from annotations to the program of a rank -*- tablegen -*-===//
//
// Order: comm-propagate gives every value a sharding, comm-insert-reshards makes
// every change of sharding an op, comm-verify-shardings checks the result against
// the rules of the ops, comm-partition makes the program of a rank.
// The pipeline comm-shard (passes/Pipelines) runs these, then comm-simplify and
// comm-verify-order.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_SHARDING
#define BRAID_PASSES_SHARDING

include "mlir/Pass/PassBase.td"

def PropagatePass : Pass<"comm-propagate", "::mlir::func::FuncOp"> {
  let summary = "Gives every value a sharding, from a few annotations";
  let description = [{
    Arguments, results and `comm.constrain` may be annotated.  An annotation is
    exact but for its open dims (`{dp, ?}`); values without one are open, inputs
    (`tg.input`) in dim 0 alone, because data are read in whole rows.  Axes
    spread forward and backward along the factors of the ops' rules, those of
    annotations with a smaller priority first.  They extend only dims that divide into
    equal blocks, and `flat` axes spread only through ops that run on flat ranges.

    In one op an axis shards one factor, and a factor has one list of axes.  Where the
    shardings of its tensors conflict, the smaller priority wins, and the axes of the
    factors are written into `comm.factors`; with equal priorities it is an error that
    names both.  Inputs of the batch never conflict: an op that compares the examples of
    one with those of another has the other gathered.  A `comm.constrain` never conflicts with what it reads: it is a place
    to reshard.  The sharding that it asks of its operand yields to annotations.  The new value of
    an argument (`tg.updates`) is sharded like the argument.  Constants follow their
    users.

    An op that is sharded along a factor that its rule marks as decomposed is replaced by
    its decomposition, with a remark.  A function without annotations is left alone.

    Afterwards arguments and results have `comm.sharding`, other ops
    `comm.shardings`, all without priorities, open dims and axes of size 1.

    Input:
    ```mlir
    comm.mesh @mesh [dp = 2, tp = 2]
    func.func @f(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>},
                 %w: tensor<8x6xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>}) -> tensor<4x6xf32> {
      %y = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
      return %y : tensor<4x6xf32>
    }
    ```
    Output:
    ```mlir
    comm.mesh @mesh [dp = 2, tp = 2]
    func.func @f(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>},
                 %w: tensor<8x6xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>})
        -> (tensor<4x6xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {tp}>}) {
      %y = tg.contract "bd,df->bf" %x, %w {comm.shardings = [#comm.sharding<@mesh, {dp} {tp}>]}
          : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
      return %y : tensor<4x6xf32>
    }
    ```
  }];
  let dependentDialects = ["::braid::comm::CommDialect", "::braid::tg::TGDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def InsertReshardsPass : Pass<"comm-insert-reshards", "::mlir::func::FuncOp"> {
  let summary = "Makes every change of sharding an op";
  let description = [{
    Propagation has assigned a sharding to each value.  Each op is sharded as
    `comm.factors` says, or else as the assigned shardings of its tensors agree on (those of results before those of
    operands, larger operands before smaller ones; an elementwise op as one of its
    tensors is, if that moves less).  An operand whose assigned sharding differs
    from what the op then needs is resharded, once for all uses that need the same.  The
    shardings in which the op yields its results are written into `comm.shardings`: a
    result is partial along the axes of factors that it lacks.  Where that is not its
    assigned sharding, it is resharded to that one, or straight to the one that its only
    reader needs.  Ops without operands are cloned instead of being resharded.  `comm.constrain` becomes a reshard, or nothing.

    Partial sums and means without other readers pass through an op that is linear
    in them and does not make them larger, so that sums of them are reduced once.
    Operands that are partial along different axes are first reduced to those in
    common.

    Asking for partial values of a value that is whole is an error.

    Input:
    ```mlir
    comm.mesh @mesh [tp = 2]
    func.func @f(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>},
                 %w: tensor<8x6xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>})
        -> (tensor<4x6xf32> {comm.sharding = #comm.sharding<@mesh, {} {}>}) {
      %y = tg.contract "bd,df->bf" %x, %w {comm.shardings = [#comm.sharding<@mesh, {} {}>]}
          : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
      return %y : tensor<4x6xf32>
    }
    ```
    Output:
    ```mlir
    comm.mesh @mesh [tp = 2]
    func.func @f(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>},
                 %w: tensor<8x6xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>})
        -> (tensor<4x6xf32> {comm.sharding = #comm.sharding<@mesh, {} {}>}) {
      %y = tg.contract "bd,df->bf" %x, %w {comm.shardings = [#comm.sharding<@mesh, {} {}, partial sum {tp}>]}
          : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
      %sum = comm.reshard %y <@mesh, {} {}> : tensor<4x6xf32>
      return %sum : tensor<4x6xf32>
    }
    ```
  }];
  let dependentDialects = ["::braid::comm::CommDialect"];
}

def VerifyShardingsPass : Pass<"comm-verify-shardings", "::mlir::func::FuncOp"> {
  let summary = "Checks that ops fit their rules";
  let description = [{
    Runs between comm-insert-reshards and comm-partition.  For each op there must be
    axes of its rule's factors from which the shardings of its operands and results
    follow, partial values included.  Partial operands must be a set in which the op
    is linear.  A factor that is whole, or must be decomposed, is not sharded.
    Results of the function are as their attributes say, and nothing but what is
    partial is resharded to partial values.  Functions without `comm.shardings` are
    left alone.

    Leaves:
    ```mlir
    comm.mesh @mesh [tp = 2]
    func.func @f(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>},
                 %w: tensor<8x6xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>})
        -> (tensor<4x6xf32> {comm.sharding = #comm.sharding<@mesh, {} {}>}) {
      %y = tg.contract "bd,df->bf" %x, %w {comm.shardings = [#comm.sharding<@mesh, {} {}, partial sum {tp}>]}
          : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
      %sum = comm.reshard %y <@mesh, {} {}> : tensor<4x6xf32>
      return %sum : tensor<4x6xf32>
    }
    ```
  }];
}

def PartitionPass : Pass<"comm-partition", "::mlir::ModuleOp"> {
  let summary = "Makes the program of a rank";
  let description = [{
    Takes global functions in which every value has a sharding and every op fits its
    rule (see comm-insert-reshards) and makes them local: arguments and results have
    the types of the rank's parts and say in `comm.global` which tensor it is a part
    of; an op runs on the parts of its operands.  Positional ops are given the
    rank's offset, and flat ranges that must not see the padding are masked.
    Functions without shardings stay as they are.

    A `comm.reshard` becomes plain steps: partial values are combined (all_reduce),
    axes that go are gathered (all_gather), axes that come are the rank's own block
    (slice, which communicates nothing).  A slice comes as early as its axes are free.
    comm-simplify joins steps to reduce_scatter and all_to_all.

    In the example the contracted dim is sharded, so the matmul gives a partial sum.  The
    result wants its columns over the same axis: the sum is reduced, and each rank
    takes its block.

    Input:
    ```mlir
    comm.mesh @mesh [tp = 2]
    func.func @f(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>},
                 %w: tensor<8x6xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>})
        -> (tensor<4x6xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>}) {
      %p = tg.contract "bd,df->bf" %x, %w {comm.shardings = [#comm.sharding<@mesh, {} {}, partial sum {tp}>]}
          : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
      %y = comm.reshard %p <@mesh, {} {tp}> : tensor<4x6xf32>
      return %y : tensor<4x6xf32>
    }
    ```
    Output:
    ```mlir
    comm.mesh @mesh [tp = 2]
    func.func @f(%x: tensor<4x4xf32> {comm.global = tensor<4x8xf32>, comm.sharding = #comm.sharding<@mesh, {} {tp}>},
                 %w: tensor<4x6xf32> {comm.global = tensor<8x6xf32>, comm.sharding = #comm.sharding<@mesh, {tp} {}>})
        -> (tensor<4x3xf32> {comm.global = tensor<4x6xf32>, comm.sharding = #comm.sharding<@mesh, {} {tp}>})
        attributes {comm.program = #comm.program<@mesh>} {
      %p = tg.contract "bd,df->bf" %x, %w : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
      %r = comm.all_reduce sum %p over @mesh {tp} : (tensor<4x6xf32>) -> tensor<4x6xf32>
      %y = comm.slice %r dim 1 over @mesh {tp} : tensor<4x6xf32> -> tensor<4x3xf32>
      return %y : tensor<4x3xf32>
    }
    ```

    Where the module says `comm.zigzag`, positions over its axis of c ranks are 2c blocks, of which rank i has
    block i and, behind it, block 2c - 1 - i, so that all ranks have as much of a causal mask.  Arguments and results
    are whole along such a dim, because who calls the program knows them in order; so is what is gathered, once its
    blocks are put in order.  An op for which it matters where it is becomes one for each block: what generates numbers
    is made at both places and selected, and other ops are made of both halves of their operands.  `comm.half` says
    which half an op has that may go round a ring (comm-form-rings).

    Input:
    ```mlir
    module attributes {comm.zigzag = #comm<axes{cp}>} {
      comm.mesh @mesh [cp = 2]
      func.func @f(%x: tensor<1x8xi32> {tg.role = #tg.role<tokens>, comm.sharding = #comm.sharding<@mesh, {} {cp}>})
          -> (tensor<i32> {comm.sharding = #comm.sharding<@mesh>}) {
        %p = tg.iota dim 1 {comm.shardings = [#comm.sharding<@mesh, {} {cp}>]} : tensor<1x8xi32>
        %y = arith.muli %x, %p {comm.shardings = [#comm.sharding<@mesh, {} {cp}>]} : tensor<1x8xi32>
        %s = tg.reduce sum %y dims [0, 1] {comm.shardings = [#comm.sharding<@mesh, partial sum {cp}>]} : tensor<1x8xi32> -> tensor<i32>
        %r = comm.reshard %s <@mesh> : tensor<i32>
        return %r : tensor<i32>
      }
    }
    ```
    Output:
    ```mlir
    module attributes {comm.zigzag = #comm<axes{cp}>} {
      comm.mesh @mesh [cp = 2]
      func.func @f(%arg0: tensor<1x8xi32> {tg.role = #tg.role<tokens>}) -> tensor<i32> attributes {comm.program = #comm.program<@mesh>} {
        %0 = tg.slice %arg0 dim 1 offset 0 size 2 : tensor<1x8xi32> -> tensor<1x2xi32>
        %1 = tg.slice %arg0 dim 1 offset 6 size 2 : tensor<1x8xi32> -> tensor<1x2xi32>
        %2 = tg.slice %arg0 dim 1 offset 2 size 2 : tensor<1x8xi32> -> tensor<1x2xi32>
        %3 = tg.slice %arg0 dim 1 offset 4 size 2 : tensor<1x8xi32> -> tensor<1x2xi32>
        %4 = tg.concat %0, %1, %2, %3 dim 1 : (tensor<1x2xi32>, tensor<1x2xi32>, tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<1x8xi32>
        %5 = comm.slice %4 dim 1 over @mesh {cp} : tensor<1x8xi32> -> tensor<1x4xi32>
        %6 = comm.axis_index over @mesh {cp} : tensor<i32>
        %cst = arith.constant dense<2> : tensor<i32>
        %7 = arith.muli %6, %cst : tensor<i32>
        %cst_0 = arith.constant dense<6> : tensor<i32>
        %8 = arith.subi %cst_0, %7 : tensor<i32>
        %cst_1 = arith.constant dense<2> : tensor<i32>
        %9 = tg.iota dim 1 : tensor<1x4xi32>
        %10 = tg.broadcast %7 dims [] : tensor<i32> -> tensor<1x4xi32>
        %11 = arith.addi %9, %10 : tensor<1x4xi32>
        %12 = arith.subi %8, %cst_1 : tensor<i32>
        %13 = tg.iota dim 1 : tensor<1x4xi32>
        %14 = tg.broadcast %12 dims [] : tensor<i32> -> tensor<1x4xi32>
        %15 = arith.addi %13, %14 : tensor<1x4xi32>
        %16 = tg.iota dim 1 : tensor<1x4xi32>
        %cst_2 = arith.constant dense<2> : tensor<1x4xi32>
        %17 = arith.cmpi slt, %16, %cst_2 : tensor<1x4xi32>
        %18 = arith.select %17, %11, %15 : tensor<1x4xi1>, tensor<1x4xi32>
        %19 = arith.muli %5, %18 : tensor<1x4xi32>
        %20 = tg.reduce sum %19 dims [0, 1] : tensor<1x4xi32> -> tensor<i32>
        %21 = comm.all_reduce sum %20 over @mesh {cp} : (tensor<i32>) -> tensor<i32>
        return %21 : tensor<i32>
      }
    }
    ```
  }];
  let dependentDialects = ["::braid::comm::CommDialect", "::braid::tg::TGDialect"];
}

#endif // BRAID_PASSES_SHARDING
