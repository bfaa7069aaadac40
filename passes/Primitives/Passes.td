//===- Passes.td - from composites to primitives -----------*- tablegen -*-===//
//
// The last rewrite of the graph, the check of its result, and reports on the ops of the graph.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_PRIMITIVES
#define BRAID_PASSES_PRIMITIVES

include "mlir/Pass/PassBase.td"

def DecomposePass : Pass<"tg-decompose", "::mlir::func::FuncOp"> {
  let summary = "Replaces composites by their definition in primitives";
  let description = [{
    The last pass over the graph: forward and backward share the values that differentiation saved, and no later
    pass merges a recomputed value with its original. `tg.stop_gradient`, which only differentiation reads, becomes
    its operand. The new ops carry the composite's name, with its location below.

    Input:
    ```mlir
    func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {
      %y = tg.silu %x : tensor<3xf32>
      return %y : tensor<3xf32>
    }
    ```
    Output:
    ```mlir
    func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {
      %0 = arith.negf %x : tensor<3xf32>
      %1 = math.exp %0 : tensor<3xf32>
      %one = arith.constant dense<1.0> : tensor<3xf32>
      %2 = arith.addf %1, %one : tensor<3xf32>
      %y = arith.divf %x, %2 : tensor<3xf32>
      return %y : tensor<3xf32>
    }
    ```
  }];
  let options = [
    ListOption<"only", "only", "std::string", "Names of the composites to replace, such as tg.silu; empty: all">,
  ];
  let dependentDialects = ["::braid::tg::TGDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def VerifyPrimitivesPass : Pass<"tg-verify-primitives", "::mlir::func::FuncOp"> {
  let summary = "Checks that the graph consists of primitives";
  let description = [{
    Checks the boundary between the graph and `exec`. No composite or hook may be left. Every op must belong to
    `tg`, `arith`, `math` or `func`, or be a library call of `exec` that was selected with its epilogue. The program
    of a rank (`comm.program`) may also have ops of `comm`. States must belong to parameters of the function.
    Changes nothing.

    Leaves:
    ```mlir
    func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {
      %y = math.exp %x : tensor<3xf32>
      return %y : tensor<3xf32>
    }
    ```
  }];
}

def PrintCostsPass : Pass<"tg-print-costs", "::mlir::func::FuncOp"> {
  let summary = "Emits remarks with the cost of each op and of the function";
  let description = [{
    A remark has the floating-point operations, and the bytes that would move if each op read its operands once and
    wrote its results once, as in `tg.contract: 1024 FLOP, 768 bytes read, 512 bytes written`. The total of a
    function assumes no fusion.

    Leaves:
    ```mlir
    func.func @f(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
      %y = tg.silu %x : tensor<8x8xf32>
      return %y : tensor<8x8xf32>
    }
    ```
  }];
}

def PrintShardingRulesPass : Pass<"tg-print-sharding-rules", "::mlir::ModuleOp"> {
  let summary = "Emits a remark with the sharding rule of each op";
  let description = [{
    For a contraction the remark is `tg.contract: b s d, d f -> b s f reduced d`; ShardingRule.h explains the
    notation. Ops without a rule get a remark, too. With `complete` it is an error if the module lacks an op with a
    rule of its own, so that the examples of docs/Sharding.md cover all of them.

    Leaves:
    ```mlir
    func.func @f(%x: tensor<2x4x8xf32>, %w: tensor<8x16xf32>) -> tensor<2x4x16xf32> {
      %y = tg.contract "bsd,df->bsf" %x, %w : (tensor<2x4x8xf32>, tensor<8x16xf32>) -> tensor<2x4x16xf32>
      return %y : tensor<2x4x16xf32>
    }
    ```
  }];
  let options = [Option<"complete", "complete", "bool", "false",
                        "Fail if the module lacks any op that defines a sharding rule">];
}

#endif // BRAID_PASSES_PRIMITIVES
