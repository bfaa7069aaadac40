//===- Passes.td - programs that generate text -------------*- tablegen -*-===//
//
// tg-make-decode makes @prefill and @decode from @generate, with a cache of keys and values.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_SAMPLING
#define BRAID_PASSES_SAMPLING

include "mlir/Pass/PassBase.td"

def MakeDecodePass : Pass<"tg-make-decode", "::mlir::ModuleOp"> {
  let summary = "Makes the program that computes the next token from the last one";
  let description = [{
    `@decode` takes the token at `position` and the caches of earlier positions, and returns the results of
    `@generate`. Its ops are those that a rank with only this position of the sequence would run for `@generate`;
    the factors of sharding rules tell which dims are the sequence. An op that reads earlier positions
    (`CausalOpInterface`) reads caches: states of kind `cache` with a row for each position. `@generate` writes the
    rows of all positions, of which rows up to its own position are valid; `@decode` replaces the row of its
    position.

    If another op needs the whole sequence, the pass makes no `@decode`, and a remark gives the reason: nothing then
    proves that later positions change no earlier ones.

    Input:
    ```mlir
    func.func @generate(%t: tensor<1x4xi32> {tg.input = "tokens", tg.role = #tg.role<tokens>},
                        %e: tensor<16x8xf32> {tg.param = #tg.param<"e", #tg.init<ones>>},
                        %p: tensor<i32> {tg.input = "position", tg.role = #tg.role<position>})
        -> (tensor<16xf32> {tg.role = #tg.role<logits>}) {
      %x = tg.gather %e, %t : (tensor<16x8xf32>, tensor<1x4xi32>) -> tensor<1x4x8xf32>
      %k = tg.reshape %x : tensor<1x4x8xf32> -> tensor<1x4x1x8xf32>
      %o, %lse = tg.attention %k, %k, %k scale 0.5 causal
          : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> (tensor<1x4x1x8xf32>, tensor<1x1x4xf32>)
      %h = tg.reshape %o : tensor<1x4x1x8xf32> -> tensor<4x8xf32>
      %i = tg.reshape %p : tensor<i32> -> tensor<1xi32>
      %r = tg.gather %h, %i : (tensor<4x8xf32>, tensor<1xi32>) -> tensor<1x8xf32>
      %l = tg.contract "bd,vd->bv" %r, %e : (tensor<1x8xf32>, tensor<16x8xf32>) -> tensor<1x16xf32>
      %z = tg.reshape %l : tensor<1x16xf32> -> tensor<16xf32>
      return %z : tensor<16xf32>
    }
    ```
    Output:
    ```mlir
    func.func @generate(%t: tensor<1x4xi32> {tg.input = "tokens", tg.role = #tg.role<tokens>},
                        %e: tensor<16x8xf32> {tg.param = #tg.param<"e", #tg.init<ones>>},
                        %p: tensor<i32> {tg.input = "position", tg.role = #tg.role<position>},
                        %c: tensor<4x8xf32> {tg.state = #tg.state<"cache.key", #tg.init<zeros>, kind = cache>})
        -> (tensor<16xf32> {tg.role = #tg.role<logits>}, tensor<4x8xf32> {tg.updates = "cache.key"}) {
      %x = tg.gather %e, %t : (tensor<16x8xf32>, tensor<1x4xi32>) -> tensor<1x4x8xf32>
      %k = tg.reshape %x : tensor<1x4x8xf32> -> tensor<1x4x1x8xf32>
      %kept = tg.reshape %k : tensor<1x4x1x8xf32> -> tensor<4x8xf32>
      %o, %lse = tg.attention %k, %k, %k scale 0.5 causal
          : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> (tensor<1x4x1x8xf32>, tensor<1x1x4xf32>)
      %h = tg.reshape %o : tensor<1x4x1x8xf32> -> tensor<4x8xf32>
      %i = tg.reshape %p : tensor<i32> -> tensor<1xi32>
      %r = tg.gather %h, %i : (tensor<4x8xf32>, tensor<1xi32>) -> tensor<1x8xf32>
      %l = tg.contract "bd,vd->bv" %r, %e : (tensor<1x8xf32>, tensor<16x8xf32>) -> tensor<1x16xf32>
      %z = tg.reshape %l : tensor<1x16xf32> -> tensor<16xf32>
      return %z, %kept : tensor<16xf32>, tensor<4x8xf32>
    }
    func.func @decode(%e: tensor<16x8xf32> {tg.param = #tg.param<"e", #tg.init<ones>>},
                      %p: tensor<i32> {tg.input = "position", tg.role = #tg.role<position>},
                      %t: tensor<1x1xi32> {tg.input = "tokens", tg.role = #tg.role<tokens>},
                      %c: tensor<4x8xf32> {tg.state = #tg.state<"cache.key", #tg.init<zeros>, kind = cache>})
        -> (tensor<16xf32> {tg.role = #tg.role<logits>}, tensor<4x8xf32> {tg.updates = "cache.key"}) {
      %x = tg.gather %e, %t : (tensor<16x8xf32>, tensor<1x1xi32>) -> tensor<1x1x8xf32>
      %q = tg.reshape %x : tensor<1x1x8xf32> -> tensor<1x1x1x8xf32>
      %row = tg.reshape %q : tensor<1x1x1x8xf32> -> tensor<1x8xf32>
      %i = tg.reshape %p : tensor<i32> -> tensor<1xi32>
      %old = tg.gather %c, %i : (tensor<4x8xf32>, tensor<1xi32>) -> tensor<1x8xf32>
      %less = arith.negf %old : tensor<1x8xf32>
      %j = tg.reshape %p : tensor<i32> -> tensor<1xi32>
      %away = tg.scatter_add %j, %less : (tensor<1xi32>, tensor<1x8xf32>) -> tensor<4x8xf32>
      %rest = arith.addf %c, %away : tensor<4x8xf32>
      %n = tg.reshape %p : tensor<i32> -> tensor<1xi32>
      %new = tg.scatter_add %n, %row : (tensor<1xi32>, tensor<1x8xf32>) -> tensor<4x8xf32>
      %next = arith.addf %rest, %new : tensor<4x8xf32>
      %k = tg.reshape %next : tensor<4x8xf32> -> tensor<1x4x1x8xf32>
      %products = tg.contract "bshd,bthd->bhst" %q, %k : (tensor<1x1x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<1x1x1x4xf32>
      %half = arith.constant dense<0.5> : tensor<1x1x1x4xf32>
      %s = arith.mulf %products, %half : tensor<1x1x1x4xf32>
      %here = tg.broadcast %p dims [] : tensor<i32> -> tensor<1x1x1x4xi32>
      %there = tg.iota dim 3 : tensor<1x1x1x4xi32>
      %counts = arith.cmpi sge, %here, %there : tensor<1x1x1x4xi32>
      %minus = arith.constant dense<0xFF800000> : tensor<1x1x1x4xf32>
      %m = arith.select %counts, %s, %minus : tensor<1x1x1x4xi1>, tensor<1x1x1x4xf32>
      %max = tg.reduce max %m dims [3] : tensor<1x1x1x4xf32> -> tensor<1x1x1xf32>
      %largest = tg.broadcast %max dims [0, 1, 2] : tensor<1x1x1xf32> -> tensor<1x1x1x4xf32>
      %d = arith.subf %m, %largest : tensor<1x1x1x4xf32>
      %exp = math.exp %d : tensor<1x1x1x4xf32>
      %sum = tg.reduce sum %exp dims [3] : tensor<1x1x1x4xf32> -> tensor<1x1x1xf32>
      %divisor = tg.broadcast %sum dims [0, 1, 2] : tensor<1x1x1xf32> -> tensor<1x1x1x4xf32>
      %w = arith.divf %exp, %divisor : tensor<1x1x1x4xf32>
      %o = tg.contract "bhst,bthd->bshd" %w, %k : (tensor<1x1x1x4xf32>, tensor<1x4x1x8xf32>) -> tensor<1x1x1x8xf32>
      %r = tg.reshape %o : tensor<1x1x1x8xf32> -> tensor<1x8xf32>
      %l = tg.contract "bd,vd->bv" %r, %e : (tensor<1x8xf32>, tensor<16x8xf32>) -> tensor<1x16xf32>
      %z = tg.reshape %l : tensor<1x16xf32> -> tensor<16xf32>
      return %z, %next : tensor<16xf32>, tensor<4x8xf32>
    }
    ```
  }];
  let dependentDialects = ["::braid::tg::TGDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

#endif // BRAID_PASSES_SAMPLING
