//===- Rings.td - blocks that go round the ranks ---------------*- tablegen -*-===//
#ifndef BRAID_PASSES_COLLECTIVES_RINGS
#define BRAID_PASSES_COLLECTIVES_RINGS

include "mlir/Pass/PassBase.td"

def FormRingsPass : Pass<"comm-form-rings", "::mlir::func::FuncOp"> {
  let summary = "Lets blocks of a sequence go round the ranks instead of gathering it";
  let description = [{
    Where the module says `comm.ring`, an op that reads a gathered sequence, and can be computed block by
    block (`BlockwiseOpInterface`), gets the blocks one after the other (Liu et al. 2023, "Ring Attention"): first the
    rank's own, then what the rank before it had.  While a block is computed the next one is on its way, which
    comm-overlap sees to (`comm.held_start`: not earlier), and no rank has more than two at a time.  The op says how what it finds of some blocks is
    merged with what it finds of others.

    What the op makes of a block, as the gradients of its keys, was reduced and scattered.  Now it goes round behind
    the block, each rank adds its term, and after the last it is one rank from home.  So n ranks send
    (n-1)/n of each, as they do to gather and to reduce and scatter.

    Backward lets the same blocks go round again.  No CSE may run after this pass: it would make the second round the
    first, and keep all blocks in between.

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
  }];
  let dependentDialects = ["::braid::comm::CommDialect", "::braid::tg::TGDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

#endif // BRAID_PASSES_COLLECTIVES_RINGS
