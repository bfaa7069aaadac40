//===- TrainingStep.td - from a model to its programs --------*- tablegen -*-===//
//
// Order of a step: tg-note-groups, tg-unfuse-weights (for ranks that share weights), tg-transpose-weights,
// tg-rebatch (to accumulate), tg-make-programs, on @train tg-split-loss (to accumulate), tg-differentiate,
// tg-accumulate, tg-apply-optimizer. Hooks: tg-mark-units before programs, tg-attach-hooks before tg-differentiate
// and behind tg-mark-gradients, tg-remove-hooks.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_GRAPH_TRAININGSTEP
#define BRAID_PASSES_GRAPH_TRAININGSTEP

include "passes/Graph/Flag.td"

def UnfuseWeightsPass : Pass<"tg-unfuse-weights", "::mlir::func::FuncOp"> {
  let summary = "Turns parts that lie side by side in a weight into a dim";
  let description = [{
    Applies to a tensor that is computed from parameters and read only in equal slices along one dim, a dim of these
    parameters. For example, GPT-2 computes q, k and v from one matrix and one bias. The parts become a dim of their
    own, and each slice takes one part. The dim behind the parts can then be sharded like any other, so each rank
    has its heads of q, of k and of v. `fused` of the parameter's attribute tells the runtime that files store the
    two dims as one. The order of elements in memory stays the same.

    Parameters with other readers, too, are left alone, and so are slices of different sizes. Runs before
    `tg-transpose-weights` and differentiation.

    Input:
    ```mlir
    func.func @model(%x: tensor<4x8xf32> {tg.input = "x"},
                     %w: tensor<8x12xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                     %b: tensor<12xf32> {tg.param = #tg.param<"b", #tg.init<zeros>>}) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
      %p = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x12xf32>) -> tensor<4x12xf32>
      %r = tg.broadcast %b dims [1] : tensor<12xf32> -> tensor<4x12xf32>
      %y = arith.addf %p, %r : tensor<4x12xf32>
      %gate = tg.slice %y dim 1 offset 0 size 6 : tensor<4x12xf32> -> tensor<4x6xf32>
      %up = tg.slice %y dim 1 offset 6 size 6 : tensor<4x12xf32> -> tensor<4x6xf32>
      return %gate, %up : tensor<4x6xf32>, tensor<4x6xf32>
    }
    ```
    Output:
    ```mlir
    func.func @model(%x: tensor<4x8xf32> {tg.input = "x"},
                     %w: tensor<8x2x6xf32> {tg.param = #tg.param<"w", #tg.init<ones>, fused = 1>},
                     %b: tensor<2x6xf32> {tg.param = #tg.param<"b", #tg.init<zeros>, fused = 0>}) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
      %p = tg.contract "bd,daf->baf" %x, %w : (tensor<4x8xf32>, tensor<8x2x6xf32>) -> tensor<4x2x6xf32>
      %r = tg.broadcast %b dims [1, 2] : tensor<2x6xf32> -> tensor<4x2x6xf32>
      %y = arith.addf %p, %r : tensor<4x2x6xf32>
      %0 = tg.slice %y dim 1 offset 0 size 1 : tensor<4x2x6xf32> -> tensor<4x1x6xf32>
      %gate = tg.reshape %0 : tensor<4x1x6xf32> -> tensor<4x6xf32>
      %1 = tg.slice %y dim 1 offset 1 size 1 : tensor<4x2x6xf32> -> tensor<4x1x6xf32>
      %up = tg.reshape %1 : tensor<4x1x6xf32> -> tensor<4x6xf32>
      return %gate, %up : tensor<4x6xf32>, tensor<4x6xf32>
    }
    ```
  }];
  let dependentDialects = ["::braid::tg::TGDialect", "::braid::comm::CommDialect"];
}

def RepeatHeadsPass : Pass<"tg-repeat-heads", "::mlir::func::FuncOp"> {
  let summary = "Repeats heads of keys and values, so that more ranks can divide them";
  let description = [{
    In grouped-query attention, groups of query heads read one head of keys and values. If `ranks` is a multiple of
    the number of key and value heads, ranks can divide the query heads, but not the heads of keys and values. The
    pass repeats each head of keys and values once for each rank that reads it; every rank then slices its own. The
    gradient of a head is the sum of the gradients of its copies. The pass does nothing if the ranks do not divide
    the groups.

    Input (`ranks=4`):
    ```mlir
    func.func @model(%q: tensor<2x8x4x3xf32> {tg.input = "q"}, %k: tensor<2x8x2x3xf32> {tg.input = "k"},
                     %v: tensor<2x8x2x3xf32> {tg.input = "v"}) -> tensor<2x8x4x3xf32> {
      %y, %lse = tg.attention %q, %k, %v scale 0.5 causal
          : (tensor<2x8x4x3xf32>, tensor<2x8x2x3xf32>, tensor<2x8x2x3xf32>) -> (tensor<2x8x4x3xf32>, tensor<2x4x8xf32>)
      return %y : tensor<2x8x4x3xf32>
    }
    ```
    Output:
    ```mlir
    func.func @model(%q: tensor<2x8x4x3xf32> {tg.input = "q"}, %k: tensor<2x8x2x3xf32> {tg.input = "k"},
                     %v: tensor<2x8x2x3xf32> {tg.input = "v"}) -> tensor<2x8x4x3xf32> {
      %0 = tg.broadcast %k dims [0, 1, 2, 4] : tensor<2x8x2x3xf32> -> tensor<2x8x2x2x3xf32>
      %1 = tg.reshape %0 : tensor<2x8x2x2x3xf32> -> tensor<2x8x4x3xf32>
      %2 = tg.broadcast %v dims [0, 1, 2, 4] : tensor<2x8x2x3xf32> -> tensor<2x8x2x2x3xf32>
      %3 = tg.reshape %2 : tensor<2x8x2x2x3xf32> -> tensor<2x8x4x3xf32>
      %y, %lse = tg.attention %q, %1, %3 scale 0.5 causal
          : (tensor<2x8x4x3xf32>, tensor<2x8x4x3xf32>, tensor<2x8x4x3xf32>) -> (tensor<2x8x4x3xf32>, tensor<2x4x8xf32>)
      return %y : tensor<2x8x4x3xf32>
    }
    ```
  }];
  let options = [
    Option<"ranks", "ranks", "::braid::Integer<1>", /*default=*/"1", "Number of ranks that divide the heads">,
  ];
  let dependentDialects = ["::braid::tg::TGDialect"];
}

def TransposeWeightsPass : Pass<"tg-transpose-weights", "::mlir::func::FuncOp"> {
  let summary = "Transposes stored weights that are contracted over their first dim";
  let description = [{
    Matmuls are fastest with weights stored n x k (k is contracted). If every contraction of a parameter of rank 2
    is over dim 0, the pass exchanges its two dims: in the argument's type and in the letters of the contractions.
    `transposed` of the parameter's attribute tells the runtime that checkpoints hold the transpose. Other uses read
    the parameter through a `tg.transpose`. Gradients and optimizer state follow the argument's type, so this runs
    before differentiation. Tables of `tg.gather`, and weights contracted over dim 1 somewhere (tied heads), stay.

    Input:
    ```mlir
    func.func @model(%x: tensor<4x8xf32> {tg.input = "x"},
                     %w: tensor<8x16xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> tensor<4x16xf32> {
      %y = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
      return %y : tensor<4x16xf32>
    }
    ```
    Output:
    ```mlir
    func.func @model(%x: tensor<4x8xf32> {tg.input = "x"},
                     %w: tensor<16x8xf32> {tg.param = #tg.param<"w", #tg.init<ones>, transposed>}) -> tensor<4x16xf32> {
      %y = tg.contract "bd,fd->bf" %x, %w : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
      return %y : tensor<4x16xf32>
    }
    ```
  }];
  let dependentDialects = ["::braid::tg::TGDialect"];
}

def MergeContractionsPass : Pass<"tg-merge-contractions", "::mlir::func::FuncOp"> {
  let summary = "Multiplies a tensor by several weights in one contraction";
  let description = [{
    Contractions of one tensor with weights of one unit, such as q, k and v, or gate and up, become one contraction
    with the weights side by side. Each old result is a slice of the lanes of the new one. Forward then reads the
    tensor once, and so do the gradients that differentiation derives: the gradient of the tensor is one
    contraction, not a sum of several. `exec-form-packs` places the weights so that their concatenation costs
    nothing. Each weight keeps its name, states and place in checkpoints.

    Runs after `tg-transpose-weights` and before differentiation, where weights are read once and whole. Each weight
    must be stored n x k, and have a number of bytes after which another tensor may begin. A contraction whose
    result is added to right away is left alone, because a library adds a bias while it multiplies.

    Input:
    ```mlir
    func.func @model(%x: tensor<4x8xf32> {tg.input = "x"},
                     %a: tensor<16x8xf32> {tg.param = #tg.param<"a", #tg.init<ones>>},
                     %b: tensor<8x8xf32> {tg.param = #tg.param<"b", #tg.init<ones>>})
        -> (tensor<4x16xf32>, tensor<4x8xf32>) {
      %y = tg.contract "bd,fd->bf" %x, %a : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
      %z = tg.contract "bd,fd->bf" %x, %b : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
      return %y, %z : tensor<4x16xf32>, tensor<4x8xf32>
    }
    ```
    Output:
    ```mlir
    func.func @model(%x: tensor<4x8xf32> {tg.input = "x"},
                     %a: tensor<16x8xf32> {tg.param = #tg.param<"a", #tg.init<ones>>},
                     %b: tensor<8x8xf32> {tg.param = #tg.param<"b", #tg.init<ones>>})
        -> (tensor<4x16xf32>, tensor<4x8xf32>) {
      %w = tg.concat %a, %b dim 0 : (tensor<16x8xf32>, tensor<8x8xf32>) -> tensor<24x8xf32>
      %yz = tg.contract "bd,fd->bf" %x, %w : (tensor<4x8xf32>, tensor<24x8xf32>) -> tensor<4x24xf32>
      %y = tg.slice %yz dim 1 offset 0 size 16 : tensor<4x24xf32> -> tensor<4x16xf32>
      %z = tg.slice %yz dim 1 offset 16 size 8 : tensor<4x24xf32> -> tensor<4x8xf32>
      return %y, %z : tensor<4x16xf32>, tensor<4x8xf32>
    }
    ```
  }];
  let dependentDialects = ["::braid::tg::TGDialect"];
}

def RebatchPass : Pass<"tg-rebatch", "::mlir::func::FuncOp"> {
  let summary = "Changes the batch size of a graph";
  let description = [{
    The batch starts at dim 0 of the inputs with the role tokens, targets, features or labels and follows the
    sharding rules of the ops. Types and constants change, ops do not: a mean becomes a mean over the new batch. An
    op that needs the whole batch, joins it with another batch or splits it is an error.

    Input (`factor=2`):
    ```mlir
    func.func @model(%x: tensor<4x2x8xf32> {tg.input = "x", tg.role = #tg.role<features>}) -> tensor<8x8xf32> {
      %y = tg.reshape %x : tensor<4x2x8xf32> -> tensor<8x8xf32>
      return %y : tensor<8x8xf32>
    }
    ```
    Output:
    ```mlir
    func.func @model(%x: tensor<2x2x8xf32> {tg.input = "x", tg.role = #tg.role<features>}) -> tensor<4x8xf32> {
      %y = tg.reshape %x : tensor<2x2x8xf32> -> tensor<4x8xf32>
      return %y : tensor<4x8xf32>
    }
    ```
  }];
  let options = [
    Option<"batch", "batch", "::braid::Integer<0, INT32_MAX>", "0", "The new batch size, in examples">,
    Option<"factor", "factor", "::braid::Integer<1>", "1", "Divide the batch size by this number instead">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def MakeProgramsPass : Pass<"tg-make-programs", "::mlir::ModuleOp"> {
  let summary = "Makes the forward graphs of train, eval, generate and predict from the model";
  let description = [{
    The model becomes `@train`, which differentiation and the optimizer complete. The programs for inference are
    copies without dropout and without unread inputs.

    * `@train` and `@eval` return the loss and the model's counters: scalars with a `tg.output`, such as the number
      of expert choices without a slot. `@train` also returns new state (`tg.updates`), which the other programs
      only read.
    * `@generate` has batch 1, the input `position` (tensor<i32>), and returns the logits [V] of that position. If a
      contraction makes the logits, the hidden row is picked before it, so the head works on one row.
    * `@predict` returns tensors with a `tg.output`, and the logits of models without tokens.

    Input (`programs=generate`):
    ```mlir
    func.func @model(%t: tensor<2x4xi32> {tg.input = "tokens", tg.role = #tg.role<tokens>},
                     %e: tensor<16x8xf32> {tg.param = #tg.param<"e", #tg.init<ones>>})
        -> (tensor<2x4x16xf32> {tg.role = #tg.role<logits>}) {
      %h = tg.gather %e, %t : (tensor<16x8xf32>, tensor<2x4xi32>) -> tensor<2x4x8xf32>
      %l = tg.contract "bsd,vd->bsv" %h, %e : (tensor<2x4x8xf32>, tensor<16x8xf32>) -> tensor<2x4x16xf32>
      return %l : tensor<2x4x16xf32>
    }
    ```
    Output:
    ```mlir
    func.func @generate(%t: tensor<1x4xi32> {tg.input = "tokens", tg.role = #tg.role<tokens>},
                        %e: tensor<16x8xf32> {tg.param = #tg.param<"e", #tg.init<ones>>},
                        %p: tensor<i32> {tg.input = "position", tg.role = #tg.role<position>})
        -> (tensor<16xf32> {tg.role = #tg.role<logits>}) {
      %h = tg.gather %e, %t : (tensor<16x8xf32>, tensor<1x4xi32>) -> tensor<1x4x8xf32>
      %rows = tg.reshape %h : tensor<1x4x8xf32> -> tensor<4x8xf32>
      %index = tg.reshape %p : tensor<i32> -> tensor<1xi32>
      %row = tg.gather %rows, %index : (tensor<4x8xf32>, tensor<1xi32>) -> tensor<1x8xf32>
      %x = tg.reshape %row : tensor<1x8xf32> -> tensor<1x1x8xf32>
      %l = tg.contract "bsd,vd->bsv" %x, %e : (tensor<1x1x8xf32>, tensor<16x8xf32>) -> tensor<1x1x16xf32>
      %y = tg.reshape %l : tensor<1x1x16xf32> -> tensor<16xf32>
      return %y : tensor<16xf32>
    }
    ```
  }];
  let options = [
    Option<"model", "model", "std::string", "\"model\"", "The function to start from">,
    ListOption<"programs", "programs", "std::string",
               "Programs to make: train, eval, generate, predict (by default all that the model's results allow)">,
    ListOption<"without", "without", "std::string", "Programs to leave out of those made by default">,
  ];
  let dependentDialects = ["::braid::tg::TGDialect", "::mlir::arith::ArithDialect"];
}

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

def SplitLossPass : Pass<"tg-split-loss", "::mlir::ModuleOp"> {
  let summary = "Turns a mean loss into a sum and a count";
  let description = [{
    Prepares accumulation over microbatches. A mean of means is wrong if microbatches count different numbers of
    targets, but sums and counts add up. The loss must be a `tg.cross_entropy` or a `tg.reduce` (mean or sum) over
    the batch, possibly reshaped; nothing before it may mix the examples. A mean becomes a sum, and the result with
    the role `count` is the divisor of the sum. A sum stays a sum, without a count.

    Other terms may be added to a mean, such as a penalty on weights or the balance of experts. The pass multiplies
    them by the count, so a step computes their mean weighted by targets; a remark says so if a term depends on the
    batch. Ignored targets then have weight 2^-60 (2^-110 in f64). This changes only a step without targets, whose
    terms are the mean over its microbatches.

    Runs on the function to be differentiated, before `tg-differentiate`;
    `tg-accumulate` divides.

    Input:
    ```mlir
    func.func @train(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
      %l = tg.reduce mean %x dims [0, 1] : tensor<4x8xf32> -> tensor<f32>
      return %l : tensor<f32>
    }
    ```
    Output:
    ```mlir
    func.func @train(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>})
        -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<f32> {tg.role = #tg.role<count>}) {
      %l = tg.reduce sum %x dims [0, 1] : tensor<4x8xf32> -> tensor<f32>
      %n = arith.constant dense<32.0> : tensor<f32>
      return %l, %n : tensor<f32>, tensor<f32>
    }
    ```
  }];
  let options = [Option<"functionName", "function", "std::string", "\"train\"", "The function to work on">];
  let dependentDialects = ["::braid::tg::TGDialect", "::mlir::arith::ArithDialect"];
}

def AccumulatePass : Pass<"tg-accumulate", "::mlir::ModuleOp"> {
  let summary = "Splits a step into microbatches: the programs accumulate and train";
  let description = [{
    Starts from a differentiated `@train` of one microbatch (a sum loss, see `tg-split-loss`, and results with
    `tg.grad_of`). A step runs `@accumulate` K-1 times and `@train` once; the caller chooses K.

    * Accumulators are states of kind `accumulator`, which checkpoints leave out. `acc.<parameter>` belongs to the
      parameter. `acc.loss`, `acc.count` (if there is a count) and `acc.<output>` for each counter of the model
      belong to no parameter.
    * `@accumulate` adds its microbatch to the accumulators. It also returns new values of the model's own state
      (running statistics, counters), which every microbatch updates, and nothing else.
    * `@train` adds its own microbatch, divides once by the whole count, except for the counters of the model, and
      leaves zeros in the accumulators.

    A value is added right behind its producer, so that reductions over ranks can begin there.

    With `separate-update`, for pipelines, all K microbatches run `@accumulate`, and `@train` adds none.

    Input:
    ```mlir
    func.func @train(%x: tensor<2xf32> {tg.input = "x", tg.role = #tg.role<features>},
                     %w: tensor<2xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
        -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<2xf32> {tg.grad_of = "w"}) {
      %y = arith.mulf %x, %w : tensor<2xf32>
      %l = tg.reduce sum %y dims [0] : tensor<2xf32> -> tensor<f32>
      return %l, %x : tensor<f32>, tensor<2xf32>
    }
    ```
    Output:
    ```mlir
    func.func @train(%x: tensor<2xf32> {tg.input = "x", tg.role = #tg.role<features>},
                     %w: tensor<2xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                     %al: tensor<f32> {tg.state = #tg.state<"acc.loss", #tg.init<zeros>, kind = accumulator>},
                     %aw: tensor<2xf32> {tg.state = #tg.state<"acc.w", #tg.init<zeros>, of = "w", kind = accumulator>})
        -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<2xf32> {tg.grad_of = "w"},
            tensor<f32> {tg.updates = "acc.loss"}, tensor<2xf32> {tg.updates = "acc.w"}) {
      %g = arith.addf %aw, %x : tensor<2xf32>
      %y = arith.mulf %x, %w : tensor<2xf32>
      %l = tg.reduce sum %y dims [0] : tensor<2xf32> -> tensor<f32>
      %loss = arith.addf %al, %l : tensor<f32>
      %zero = arith.constant dense<0.0> : tensor<f32>
      %zeros = arith.constant dense<0.0> : tensor<2xf32>
      return %loss, %g, %zero, %zeros : tensor<f32>, tensor<2xf32>, tensor<f32>, tensor<2xf32>
    }
    func.func @accumulate(%x: tensor<2xf32> {tg.input = "x", tg.role = #tg.role<features>},
                          %w: tensor<2xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                          %al: tensor<f32> {tg.state = #tg.state<"acc.loss", #tg.init<zeros>, kind = accumulator>},
                          %aw: tensor<2xf32> {tg.state = #tg.state<"acc.w", #tg.init<zeros>, of = "w", kind = accumulator>})
        -> (tensor<f32> {tg.updates = "acc.loss"}, tensor<2xf32> {tg.updates = "acc.w"}) {
      %g = arith.addf %aw, %x : tensor<2xf32>
      %y = arith.mulf %x, %w : tensor<2xf32>
      %l = tg.reduce sum %y dims [0] : tensor<2xf32> -> tensor<f32>
      %loss = arith.addf %al, %l : tensor<f32>
      return %loss, %g : tensor<f32>, tensor<2xf32>
    }
    ```
  }];
  let options = [Option<"functionName", "function", "std::string", "\"train\"", "The differentiated function">,
                 Option<"separateUpdate", "separate-update", "bool", "false",
                        "Run @accumulate for all microbatches, so that @train adds none">];
  let dependentDialects = ["::braid::tg::TGDialect", "::mlir::arith::ArithDialect"];
}

def ApplyOptimizerPass : Pass<"tg-apply-optimizer", "::mlir::func::FuncOp"> {
  let summary = "Turns gradients into updates of parameters and optimizer state";
  let description = [{
    Each result with `tg.grad_of = "p"` becomes the update of p: a `tg.update`, the optimizer's states for p
    (`p.exp_avg` and `p.exp_avg_sq` of AdamW), the inputs `lr` and `step` if needed, and results with `tg.updates`.
    Functions without such results are left alone, and so are parameters without a gradient, as in PyTorch.

    `dialects/TG/Optimizers` defines the optimizers, their states, hyperparameters and defaults; `braidc --help`
    lists them. A hyperparameter that the optimizer does not have is an error.

    The hyperparameter `weight_decay` is 0 for parameters that `decay-exclude` names: `biases` (rank 0 or 1, not of
    a norm), `norms` (scales and shifts of layer and RMS norms), `embeddings` (tables that `tg.gather` reads, tied
    heads included, and parameters that no contraction reads, such as learned positions). `tg-note-groups` finds
    these groups before layouts.

    `clip` > 0 scales all gradients by min(1, clip / (norm + 1e-6)), where norm is the 2-norm of all gradients
    together. The result with the role `grad_norm` is the norm before clipping.

    Input (`optimizer=momentum`):
    ```mlir
    func.func @train(%w: tensor<2xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                     %x: tensor<2xf32> {tg.input = "x"}) -> (tensor<2xf32> {tg.grad_of = "w"}) {
      return %x : tensor<2xf32>
    }
    ```
    Output:
    ```mlir
    func.func @train(%w: tensor<2xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                     %x: tensor<2xf32> {tg.input = "x"},
                     %lr: tensor<f32> {tg.input = "lr", tg.role = #tg.role<lr>},
                     %m: tensor<2xf32> {tg.state = #tg.state<"w.momentum_buffer", #tg.init<zeros>, of = "w", kind = moment>})
        -> (tensor<2xf32> {tg.updates = "w"}, tensor<2xf32> {tg.updates = "w.momentum_buffer"}) {
      %w1, %m1 = tg.update "momentum" %w, %x, %lr states %m {momentum = 0.9, weight_decay = 0.0}
          : (tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
      return %w1, %m1 : tensor<2xf32>, tensor<2xf32>
    }
    ```
  }];
  let options = [
    Flag<"Optimizer", "--optimizer", "optimizer", "optimizer", "optimizer", "std::string", "\"adamw\"",
         "The optimizer, one of these; each has hyperparameters with these defaults", [{text("NAME")}], "",
         [{, listing(optimizers)}]>,
    ListOption<"hyperparameters", "hyperparameters", "std::string",
               "Hyperparameters of the optimizer, as in beta1=0.9,eps=1e-6; the others have the optimizer's defaults">,
    ListOption<"decayExclude", "decay-exclude", "std::string",
               "Parameters that get no weight decay: biases (not of norms), norms (with their biases), embeddings">,
    Flag<"Optimizer", "--clip", "optimizer", "clip", "clip", "::braid::Number", "0.0",
         "Clip the global norm of the gradients to this; 0: do not", [{kAnyNumber}]>,
    Option<"reportNorm", "report-norm", "bool", "false", "Return the norm of the gradients even if nothing is clipped">,
  ];
  let dependentDialects = ["::braid::tg::TGDialect", "::mlir::arith::ArithDialect"];
}

#endif // BRAID_PASSES_GRAPH_TRAININGSTEP
