//===- Rings.td - blocks that go round the ranks ---------------*- tablegen -*-===//
#ifndef BRAID_PASSES_COLLECTIVES_RINGS
#define BRAID_PASSES_COLLECTIVES_RINGS

include "mlir/Pass/PassBase.td"

def FormRingsPass : Pass<"comm-form-rings", "::mlir::func::FuncOp"> {
  let summary = "Sends blocks of a sequence around a ring of ranks instead of gathering the sequence";
  let description = [{
    Applies to axes in `comm.ring` of the module. An op that reads a gathered sequence, and that can be computed
    block by block (`BlockwiseOpInterface`), gets one block after the other (Liu et al. 2023, "Ring Attention"):
    first the rank's own, then the blocks of the ranks before it. While a block is computed the next one is in
    flight, and no rank holds more than two at a time. comm-overlap arranges this; `comm.held_start` keeps a
    transfer from starting earlier. The op defines how results for some blocks are merged with results for others.

    Results for a block, such as the gradients of its keys, were reduced and scattered before. Now they go round
    behind the block: each rank adds its term, and after the last term they are one rank from home. So n ranks send
    (n-1)/n of each result, as a gather or a reduce_scatter does.

    Backward sends the same blocks round again. No CSE may run after this pass: it would merge the second round with
    the first, and keep all blocks in between.

    Input:
    ```mlir
    module attributes {comm.ring = #comm<axes{cp}>} {
      comm.mesh @mesh [cp = 2]
      func.func @train(%q: tensor<2x4x2x4xf32>, %k: tensor<2x4x2x4xf32>, %v: tensor<2x4x2x4xf32>) -> tensor<2x4x2x4xf32>
          attributes {comm.program = #comm.program<@mesh>} {
        %keys = comm.all_gather %k dims [1] over @mesh {cp} : (tensor<2x4x2x4xf32>) -> tensor<2x8x2x4xf32>
        %values = comm.all_gather %v dims [1] over @mesh {cp} : (tensor<2x4x2x4xf32>) -> tensor<2x8x2x4xf32>
        %y, %lse = tg.attention %q, %keys, %values scale 0.5
            : (tensor<2x4x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> (tensor<2x4x2x4xf32>, tensor<2x2x4xf32>)
        return %y : tensor<2x4x2x4xf32>
      }
    }
    ```
    Output:
    ```mlir
    module attributes {comm.ring = #comm<axes{cp}>} {
      comm.mesh @mesh [cp = 2]
      func.func @train(%arg0: tensor<2x4x2x4xf32>, %arg1: tensor<2x4x2x4xf32>, %arg2: tensor<2x4x2x4xf32>) -> tensor<2x4x2x4xf32> attributes {comm.program = #comm.program<@mesh>} {
        %0:2 = comm.permute %arg1, %arg2 pairs [0 -> 1, 1 -> 0] over @mesh {cp} {comm.held_start} : (tensor<2x4x2x4xf32>, tensor<2x4x2x4xf32>) -> (tensor<2x4x2x4xf32>, tensor<2x4x2x4xf32>)
        %result, %lse = tg.attention %arg0, %arg1, %arg2 scale 5.000000e-01 : (tensor<2x4x2x4xf32>, tensor<2x4x2x4xf32>, tensor<2x4x2x4xf32>) -> (tensor<2x4x2x4xf32>, tensor<2x2x4xf32>)
        %result_0, %lse_1 = tg.attention %arg0, %0#0, %0#1 scale 5.000000e-01 : (tensor<2x4x2x4xf32>, tensor<2x4x2x4xf32>, tensor<2x4x2x4xf32>) -> (tensor<2x4x2x4xf32>, tensor<2x2x4xf32>)
        %1 = arith.maximumf %lse, %lse_1 : tensor<2x2x4xf32>
        %2 = arith.subf %lse, %1 : tensor<2x2x4xf32>
        %3 = math.exp %2 : tensor<2x2x4xf32>
        %4 = arith.subf %lse_1, %1 : tensor<2x2x4xf32>
        %5 = math.exp %4 : tensor<2x2x4xf32>
        %6 = arith.addf %3, %5 : tensor<2x2x4xf32>
        %7 = arith.divf %3, %6 : tensor<2x2x4xf32>
        %8 = tg.transpose %7 [0, 2, 1] : tensor<2x2x4xf32> -> tensor<2x4x2xf32>
        %9 = tg.broadcast %8 dims [0, 1, 2] : tensor<2x4x2xf32> -> tensor<2x4x2x4xf32>
        %10 = arith.mulf %result, %9 : tensor<2x4x2x4xf32>
        %11 = arith.divf %5, %6 : tensor<2x2x4xf32>
        %12 = tg.transpose %11 [0, 2, 1] : tensor<2x2x4xf32> -> tensor<2x4x2xf32>
        %13 = tg.broadcast %12 dims [0, 1, 2] : tensor<2x4x2xf32> -> tensor<2x4x2x4xf32>
        %14 = arith.mulf %result_0, %13 : tensor<2x4x2x4xf32>
        %15 = arith.addf %10, %14 : tensor<2x4x2x4xf32>
        %16 = math.log %6 : tensor<2x2x4xf32>
        %17 = arith.addf %1, %16 : tensor<2x2x4xf32>
        return %15 : tensor<2x4x2x4xf32>
      }
    }
    ```

    In zigzag (`comm.zigzag`) a rank's block has two pieces of the sequence, and a rank's queries have two halves;
    comm-partition has made an op for each half. Both halves share one ring, and each computes with each piece of a
    block at the piece's start position. With the rank's own block, each half starts with the piece at its own
    positions. The second half comes behind the first pieces of all blocks, and the first half before all second pieces.
    So under a causal mask the pairs of a second half and a first piece need no mask, if there is no window, and the
    pairs of a first half and a second piece are left out. Of the two other pairs, one counts in full and the other not
    at all; which one, is known only at run time.

    Input:
    ```mlir
    module attributes {comm.ring = #comm<axes{cp}>, comm.zigzag = #comm<axes{cp}>} {
      comm.mesh @mesh [cp = 2]
      func.func @train(%a: tensor<1x2x2x4xf32>, %b: tensor<1x2x2x4xf32>, %k: tensor<1x4x2x4xf32>, %o: tensor<1x2x2x4xf32>, %lse: tensor<1x2x2xf32>, %do: tensor<1x2x2x4xf32>,
                       %first: tensor<i32>, %second: tensor<i32>) -> (tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>)
          attributes {comm.program = #comm.program<@mesh>} {
        %zero = arith.constant dense<0> : tensor<i32>
        %gathered = comm.all_gather %k dims [1] over @mesh {cp} : (tensor<1x4x2x4xf32>) -> tensor<1x8x2x4xf32>
        %keys = tg.reorder %gathered dim 1 order [0, 2, 3, 1] : tensor<1x8x2x4xf32>
        %da, %dk0, %dv0 = tg.attention_grad %a, %keys, %keys, %o, %lse, %do at %first, %zero scale 0.5 causal {comm.half = 0}
            : (tensor<1x2x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2xf32>, tensor<1x2x2x4xf32>, tensor<i32>, tensor<i32>) -> (tensor<1x2x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>)
        %db, %dk1, %dv1 = tg.attention_grad %b, %keys, %keys, %o, %lse, %do at %second, %zero scale 0.5 causal {comm.half = 1}
            : (tensor<1x2x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2xf32>, tensor<1x2x2x4xf32>, tensor<i32>, tensor<i32>) -> (tensor<1x2x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>)
        return %da, %db : tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>
      }
    }
    ```
    Output:
    ```mlir
    module attributes {comm.ring = #comm<axes{cp}>, comm.zigzag = #comm<axes{cp}>} {
      comm.mesh @mesh [cp = 2]
      func.func @train(%arg0: tensor<1x2x2x4xf32>, %arg1: tensor<1x2x2x4xf32>, %arg2: tensor<1x4x2x4xf32>, %arg3: tensor<1x2x2x4xf32>, %arg4: tensor<1x2x2xf32>, %arg5: tensor<1x2x2x4xf32>, %arg6: tensor<i32>, %arg7: tensor<i32>) -> (tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>) attributes {comm.program = #comm.program<@mesh>} {
        %0 = comm.axis_index over @mesh {cp} : tensor<i32>
        %cst = arith.constant dense<2> : tensor<i32>
        %1 = arith.muli %0, %cst : tensor<i32>
        %cst_0 = arith.constant dense<3> : tensor<i32>
        %2 = arith.subi %cst_0, %0 : tensor<i32>
        %cst_1 = arith.constant dense<2> : tensor<i32>
        %3 = arith.muli %2, %cst_1 : tensor<i32>
        %cst_2 = arith.constant dense<1> : tensor<i32>
        %4 = arith.subi %0, %cst_2 : tensor<i32>
        %cst_3 = arith.constant dense<1> : tensor<i32>
        %5 = arith.addi %0, %cst_3 : tensor<i32>
        %cst_4 = arith.constant dense<0> : tensor<i32>
        %6 = arith.cmpi sge, %4, %cst_4 : tensor<i32>
        %7 = arith.select %6, %4, %5 : tensor<i1>, tensor<i32>
        %cst_5 = arith.constant dense<2> : tensor<i32>
        %8 = arith.muli %7, %cst_5 : tensor<i32>
        %cst_6 = arith.constant dense<3> : tensor<i32>
        %9 = arith.subi %cst_6, %7 : tensor<i32>
        %cst_7 = arith.constant dense<2> : tensor<i32>
        %10 = arith.muli %9, %cst_7 : tensor<i32>
        %cst_8 = arith.constant dense<0> : tensor<i32>
        %11:2 = comm.permute %arg2, %arg2 pairs [0 -> 1, 1 -> 0] over @mesh {cp} {comm.held_start} : (tensor<1x4x2x4xf32>, tensor<1x4x2x4xf32>) -> (tensor<1x4x2x4xf32>, tensor<1x4x2x4xf32>)
        %12 = tg.slice %arg2 dim 1 offset 0 size 2 : tensor<1x4x2x4xf32> -> tensor<1x2x2x4xf32>
        %13 = tg.slice %arg2 dim 1 offset 0 size 2 : tensor<1x4x2x4xf32> -> tensor<1x2x2x4xf32>
        %14 = tg.slice %arg2 dim 1 offset 2 size 2 : tensor<1x4x2x4xf32> -> tensor<1x2x2x4xf32>
        %15 = tg.slice %arg2 dim 1 offset 2 size 2 : tensor<1x4x2x4xf32> -> tensor<1x2x2x4xf32>
        %dquery, %dkey, %dvalue = tg.attention_grad %arg0, %12, %13, %arg3, %arg4, %arg5 at %arg6, %1 scale 5.000000e-01 causal : (tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2xf32>, tensor<1x2x2x4xf32>, tensor<i32>, tensor<i32>) -> (tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>)
        %dquery_9, %dkey_10, %dvalue_11 = tg.attention_grad %arg1, %14, %15, %arg3, %arg4, %arg5 at %arg7, %3 scale 5.000000e-01 causal : (tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2xf32>, tensor<1x2x2x4xf32>, tensor<i32>, tensor<i32>) -> (tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>)
        %dquery_12, %dkey_13, %dvalue_14 = tg.attention_grad %arg1, %12, %13, %arg3, %arg4, %arg5 scale 5.000000e-01 : (tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2xf32>, tensor<1x2x2x4xf32>) -> (tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>)
        %16 = arith.addf %dquery_9, %dquery_12 : tensor<1x2x2x4xf32>
        %17 = tg.slice %11#0 dim 1 offset 0 size 2 : tensor<1x4x2x4xf32> -> tensor<1x2x2x4xf32>
        %18 = tg.slice %11#1 dim 1 offset 0 size 2 : tensor<1x4x2x4xf32> -> tensor<1x2x2x4xf32>
        %19 = tg.slice %11#0 dim 1 offset 2 size 2 : tensor<1x4x2x4xf32> -> tensor<1x2x2x4xf32>
        %20 = tg.slice %11#1 dim 1 offset 2 size 2 : tensor<1x4x2x4xf32> -> tensor<1x2x2x4xf32>
        %dquery_15, %dkey_16, %dvalue_17 = tg.attention_grad %arg0, %17, %18, %arg3, %arg4, %arg5 at %arg6, %8 scale 5.000000e-01 causal : (tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2xf32>, tensor<1x2x2x4xf32>, tensor<i32>, tensor<i32>) -> (tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>)
        %21 = arith.addf %dquery, %dquery_15 : tensor<1x2x2x4xf32>
        %dquery_18, %dkey_19, %dvalue_20 = tg.attention_grad %arg1, %17, %18, %arg3, %arg4, %arg5 scale 5.000000e-01 : (tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2xf32>, tensor<1x2x2x4xf32>) -> (tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>)
        %22 = arith.addf %16, %dquery_18 : tensor<1x2x2x4xf32>
        %dquery_21, %dkey_22, %dvalue_23 = tg.attention_grad %arg1, %19, %20, %arg3, %arg4, %arg5 at %arg7, %10 scale 5.000000e-01 causal : (tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2xf32>, tensor<1x2x2x4xf32>, tensor<i32>, tensor<i32>) -> (tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>)
        %23 = arith.addf %22, %dquery_21 : tensor<1x2x2x4xf32>
        return %21, %23 : tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>
      }
    }
    ```
  }];
  let dependentDialects = ["::braid::comm::CommDialect", "::braid::tg::TGDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

#endif // BRAID_PASSES_COLLECTIVES_RINGS
