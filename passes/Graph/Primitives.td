//===- Primitives.td - towards exec --------------------------*- tablegen -*-===//
//
// The last rewrite of the graph, the check of what it leaves, and what the graph can say
// of its ops.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_GRAPH_PRIMITIVES
#define BRAID_PASSES_GRAPH_PRIMITIVES

include "mlir/Pass/PassBase.td"

def DecomposePass : Pass<"tg-decompose", "::mlir::func::FuncOp"> {
  let summary = "Replaces composites by their definition in primitives";
  let description = [{
    The last pass over the graph: forward and backward share what differentiation
    chose to save, and nothing after merges a recomputed value with its original.
    `tg.stop_gradient`, which only differentiation reads, is its operand.  The new ops
    carry the composite's name, with its location below.

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
    ListOption<"only", "only", "std::string", "Names of the composites to replace, such as tg.silu; without it all">,
  ];
  let dependentDialects = ["::braid::tg::TGDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def VerifyPrimitivesPass : Pass<"tg-verify-primitives", "::mlir::func::FuncOp"> {
  let summary = "Checks that the graph consists of primitives";
  let description = [{
    The boundary between the graph and `exec`: no composite or hook is left, and
    every op belongs to `tg`, `arith`, `math` or `func`, or is a library call of
    `exec` that was selected with its epilogue.  In
    the program of a rank (`comm.program`) there may also be ops of `comm`.  States
    belong to parameters that the function has.  Changes nothing.

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
  let summary = "Says as remarks what each op and the function cost";
  let description = [{
    Floating-point operations, and the bytes that would move if each op read its
    operands once and wrote its results once, as in
    `tg.contract: 1024 FLOP, 768 bytes read, 512 bytes written`.  For a whole
    function this is before any fusion.

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
  let summary = "Says as a remark what the sharding rule of each op is";
  let description = [{
    For an op such as a contraction the remark is
    `tg.contract: b s d, d f -> b s f reduced d`: see ShardingRule.h for how to
    read it.  Ops without a rule are said so.  With `complete` it is an error that
    some op with a rule of its own is not in the module: the examples of
    docs/Sharding.md leave none out.

    Leaves:
    ```mlir
    func.func @f(%x: tensor<2x4x8xf32>, %w: tensor<8x16xf32>) -> tensor<2x4x16xf32> {
      %y = tg.contract "bsd,df->bsf" %x, %w : (tensor<2x4x8xf32>, tensor<8x16xf32>) -> tensor<2x4x16xf32>
      return %y : tensor<2x4x16xf32>
    }
    ```
  }];
  let options = [Option<"complete", "complete", "bool", "false", "Refuse a module that lacks an op with a rule of its own">];
}

#endif // BRAID_PASSES_GRAPH_PRIMITIVES
