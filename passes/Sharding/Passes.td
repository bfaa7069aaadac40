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
    Arguments, results and `comm.constrain` may be annotated. An annotation is exact except for its open dims (`{dp,
    ?}`). Values without an annotation are open, but inputs (`tg.input`) only in dim 0, because data are read in
    whole rows. Axes spread forward and backward along the factors of the ops' rules, starting with annotations of
    smaller priority. They extend only dims that divide into equal blocks, and `flat` axes spread only through ops
    that run on flat ranges.

    In one op an axis shards one factor, and a factor has one list of axes. Where the shardings of its tensors
    conflict, the smaller priority wins, and the axes of the factors are written into `comm.factors`; with equal
    priorities it is an error that names both. Inputs of the batch never conflict: where an op compares examples of
    two inputs, one of the inputs is gathered. A `comm.constrain` never conflicts with its operand, because it is a
    place to reshard. The sharding that it requests for its operand yields to annotations. The new value of an
    argument (`tg.updates`) is sharded like the argument. Constants follow their users.

    An op is replaced by its decomposition, with a remark, if it is sharded along a factor that its rule marks as
    decomposed. A function without annotations is left alone.

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
  let summary = "Inserts an op for every change of sharding";
  let description = [{
    Propagation has assigned a sharding to each value. Each op is sharded as `comm.factors` says, else as the
    assigned shardings of its tensors agree on. Results take precedence over operands, and larger operands over
    smaller ones. An elementwise op is sharded like one of its tensors if that moves fewer bytes. An operand is
    resharded if its assigned sharding differs from the sharding that the op needs, once for all uses with the same
    need. The shardings in which the op yields its results are written into `comm.shardings`: a result is partial
    along the axes of factors that it lacks. If the yielded sharding is not the assigned one, the result is
    resharded to the assigned one, or directly to the sharding that its only reader needs. Ops without operands are
    cloned instead of being resharded. `comm.constrain` becomes a reshard, or nothing.

    Partial sums and means with a single reader pass through that op if it is linear in them and does not make them
    larger, so that sums of them are reduced once. Operands that are partial along different axes are first reduced
    to the common axes.

    Resharding a whole value to partial values is an error.

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
  let summary = "Checks shardings against the rules of the ops";
  let description = [{
    Runs between comm-insert-reshards and comm-partition. For each op there must be axes of its rule's factors from
    which the shardings of its operands and results follow, partial values included. Partial operands must be a set
    in which the op is linear. Factors that must be whole or decomposed must not be sharded. Results of the function
    must match their attributes, and only partial values may be resharded to partial values. Functions without
    `comm.shardings` are left alone.

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
  let summary = "Partitions global functions into the program of a rank";
  let description = [{
    Takes global functions in which every value has a sharding and every op fits its rule (see comm-insert-reshards)
    and makes them local. Arguments and results have the types of the rank's parts, and `comm.global` holds the type
    of the whole tensor. An op runs on the parts of its operands. Positional ops get the rank's offset, and flat
    ranges are masked where an op must not see the padding. Functions without shardings stay as they are.

    A `comm.reshard` becomes plain steps: an all_reduce combines partial values, an all_gather removes axes, and a
    slice adds axes by taking the rank's own block, without communication. A slice comes as soon as its axes are
    free. comm-simplify joins steps into reduce_scatter and all_to_all.

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

    With `comm.zigzag` on the module, positions over its axis of c ranks are 2c blocks. Rank i has block i and,
    behind it, block 2c - 1 - i, so that all ranks have equal shares of a causal mask. Arguments and results are
    whole along such a dim, because the caller has positions in order. Gathered values are whole, too, once their
    blocks are put in order. An op that depends on positions becomes one op for each block. Ops that generate
    numbers are built for both places, and a select combines them; other ops are built on both halves of their
    operands. `comm.half` names the half of an op that may go round a ring (comm-form-rings).

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
        %0 = tg.reorder %arg0 dim 1 order [0, 3, 1, 2] : tensor<1x8xi32>
        %1 = comm.slice %0 dim 1 over @mesh {cp} : tensor<1x8xi32> -> tensor<1x4xi32>
        %2 = comm.axis_index over @mesh {cp} : tensor<i32>
        %cst = arith.constant dense<2> : tensor<i32>
        %3 = arith.muli %2, %cst : tensor<i32>
        %cst_0 = arith.constant dense<6> : tensor<i32>
        %4 = arith.subi %cst_0, %3 : tensor<i32>
        %cst_1 = arith.constant dense<2> : tensor<i32>
        %5 = tg.iota dim 1 : tensor<1x4xi32>
        %6 = tg.broadcast %3 dims [] : tensor<i32> -> tensor<1x4xi32>
        %7 = arith.addi %5, %6 : tensor<1x4xi32>
        %8 = arith.subi %4, %cst_1 : tensor<i32>
        %9 = tg.iota dim 1 : tensor<1x4xi32>
        %10 = tg.broadcast %8 dims [] : tensor<i32> -> tensor<1x4xi32>
        %11 = arith.addi %9, %10 : tensor<1x4xi32>
        %12 = tg.iota dim 1 : tensor<1x4xi32>
        %cst_2 = arith.constant dense<2> : tensor<1x4xi32>
        %13 = arith.cmpi slt, %12, %cst_2 : tensor<1x4xi32>
        %14 = arith.select %13, %7, %11 : tensor<1x4xi1>, tensor<1x4xi32>
        %15 = arith.muli %1, %14 : tensor<1x4xi32>
        %16 = tg.reduce sum %15 dims [0, 1] : tensor<1x4xi32> -> tensor<i32>
        %17 = comm.all_reduce sum %16 over @mesh {cp} : (tensor<i32>) -> tensor<i32>
        return %17 : tensor<i32>
      }
    }
    ```
  }];
  let dependentDialects = ["::braid::comm::CommDialect", "::braid::tg::TGDialect"];
}

#endif // BRAID_PASSES_SHARDING
