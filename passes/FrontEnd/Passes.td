//===- Passes.td - from a model to its programs ------------*- tablegen -*-===//
//
// Rewrites of the model's forward graph, and the programs made from it, all on tensors and on one device. Order:
// tg-unfuse-weights and tg-repeat-heads (for ranks that share weights), tg-transpose-weights, tg-merge-contractions,
// tg-rebatch (to accumulate), tg-mark-units, tg-make-programs. Hooks observe or change activations and gradients:
// tg-attach-hooks runs before tg-differentiate, so that attachments are differentiated, and behind tg-mark-gradients.
// tg-remove-hooks removes the points that are left.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_FRONTEND
#define BRAID_PASSES_FRONTEND

include "passes/Base/Flag.td"

def UnfuseWeightsPass : Pass<"tg-unfuse-weights", "::mlir::func::FuncOp"> {
  let summary = "Turns concatenated parts of a weight into a separate dim";
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
    before differentiation. Tables of `tg.gather`, weights contracted over dim 1 somewhere (tied heads), and weights whose new value the
    function returns stay.

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
    Option<"batch", "batch", "::braid::Integer<0, INT32_MAX>", "0", "New batch size in examples">,
    Option<"factor", "factor", "::braid::Integer<1>", "1", "Divisor of the batch size, instead of a new batch size">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def MarkUnitsPass : Pass<"tg-mark-units", "::mlir::func::FuncOp"> {
  let summary = "Puts hooks where activations enter and leave the units of a model";
  let description = [{
    The `unit` of parameters names a unit. Its ops are:

    * the ops that read its parameters;
    * ops on a path from one of these to another, unless the path passes through or begins at an op that reads
      another unit's parameters. The head of tied embeddings reads the first unit's table again, and the residual
      sums before it stay with the blocks;
    * ops up to the point where values of the unit alone meet again, such as the residual sum that ends a block.

    Hooks are for floating-point values that are computed from an input. Each one that enters the unit gets a hook
    "<unit>.enter", and each one that leaves it a hook "<unit>.exit", numbered by `order` if there are several. If
    the pass runs before `tg-differentiate`, the hooks get partners in the backward pass: "<unit>.exit.grad" where
    it enters the unit and "<unit>.enter.grad" where it leaves.

    Input:
    ```mlir
    func.func @scale(%x: tensor<3xf32> {tg.input = "x"},
                     %w: tensor<3xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "h.0">}) -> tensor<3xf32> {
      %y = arith.mulf %x, %w : tensor<3xf32>
      return %y : tensor<3xf32>
    }
    ```
    Output:
    ```mlir
    func.func @scale(%x: tensor<3xf32> {tg.input = "x"},
                     %w: tensor<3xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "h.0">}) -> tensor<3xf32> {
      %0 = tg.hook %x "h.0.enter" order 0 : tensor<3xf32>
      %y = arith.mulf %0, %w : tensor<3xf32>
      %1 = tg.hook %y "h.0.exit" order 0 : tensor<3xf32>
      return %1 : tensor<3xf32>
    }
    ```
  }];
  let dependentDialects = ["::braid::tg::TGDialect"];
}

def MakeProgramsPass : Pass<"tg-make-programs", "::mlir::ModuleOp"> {
  let summary = "Makes the forward graphs of train, eval, generate and predict from the model";
  let description = [{
    The model becomes `@train`, which differentiation and the optimizer complete. The programs for inference are
    copies without dropout and without unread inputs.

    * `@train` and `@eval` return the loss and the model's counters: scalars with a `tg.output`, such as the number
      of expert choices without a slot. `@train` also returns new state (`tg.updates`), which the other programs
      only read.
    * If the model returns new values of its parameters, it is a whole step with gradients and updates of its own.
      Then ops of `@train` that the loss does not depend on belong to the update.
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
    Option<"model", "model", "std::string", "\"model\"", "Function of the model">,
    ListOption<"programs", "programs", "std::string",
               "Programs to make: train, eval, generate, predict (default: all programs that the model's results "
               "allow)">,
    ListOption<"without", "without", "std::string", "Programs to leave out of the default programs">,
  ];
  let dependentDialects = ["::braid::tg::TGDialect", "::mlir::arith::ArithDialect"];
}

def AttachHooksPass : Pass<"tg-attach-hooks", "::mlir::ModuleOp"> {
  let summary = "Attaches actions to hook points";
  let description = [{
    `at` names points, and `action` lists the action for each point:

    * `scale:F` multiplies the tensor by F,
    * `clip:F` scales it down to a 2-norm of at most F,
    * `norm` adds its 2-norm as a result with `tg.output = "norm:<point>"`,
    * `keep` adds it as a result with `tg.output = "keep:<point>"`.

    The points stay, so that later attachments at the same point act after earlier ones; `tg-remove-hooks` takes
    them out. Points with the same name are handled by increasing `order`, and the results of the second and later
    ones carry it, as in "norm:<point>:1". A name that no point has is an error.

    An action on an activation must be attached before `tg-differentiate`, so that it is differentiated. At that time
    there are no points on gradients yet. So a pipeline runs this pass twice with the same actions: on forward points
    before `tg-differentiate`, on all other points behind it. `phase` selects the points, by the facts of the hooks.

    Input (`at=y action=scale:0.5`):
    ```mlir
    func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {
      %y = tg.hook %x "y" order 0 : tensor<3xf32>
      return %y : tensor<3xf32>
    }
    ```
    Output:
    ```mlir
    func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {
      %half = arith.constant dense<0.5> : tensor<3xf32>
      %0 = arith.mulf %x, %half : tensor<3xf32>
      %y = tg.hook %0 "y" order 0 : tensor<3xf32>
      return %y : tensor<3xf32>
    }
    ```
  }];
  let options = [
    ListOption<"at", "at", "std::string", "Names of hook points">,
    ListOption<"action", "action", "std::string", "Action at each point: scale:F, clip:F, norm or keep">,
    Option<"function", "function", "std::string", /*default=*/"",
           "Function that returns the results of norm and keep; empty: every function with the hook point">,
    Option<"phase", "phase", "::braid::HookTurn", "::braid::HookTurn::All",
           "Hook points to handle; forward: points of forward, leaving unknown names for later; backward: all other "
           "points">,
  ];
  let dependentDialects = ["::braid::tg::TGDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def RemoveHooksPass : Pass<"tg-remove-hooks", "::mlir::ModuleOp"> {
  let summary = "Removes hook points from the graph";
  let description = [{
    Input:
    ```mlir
    func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {
      %y = tg.hook %x "y" order 0 : tensor<3xf32>
      return %y : tensor<3xf32>
    }
    ```
    Output:
    ```mlir
    func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {
      return %x : tensor<3xf32>
    }
    ```
  }];
  let options = [
    ListOption<"at", "at", "std::string", "Names of hook points; empty: all points">,
  ];
}

#endif // BRAID_PASSES_FRONTEND
