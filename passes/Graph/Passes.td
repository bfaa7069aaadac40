//===- Passes.td - passes over the training graph ---------------*- tablegen -*-===//
//
// From the model's forward graph to the programs of a training step, all on
// tensors and on one device.  Order: the training step (see there), which
// includes differentiation, then canonicalize, remove-hooks, decompose, verify.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_GRAPH
#define BRAID_PASSES_GRAPH

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Differentiation
//===----------------------------------------------------------------------===//

def DifferentiatePass : Pass<"tg-differentiate", "::mlir::ModuleOp"> {
  let summary = "Appends gradients to a function, by reverse mode";
  let description = [{
    A root is a result with `tg.role = "loss"`, or one named by `root`.  Every
    parameter that is not frozen and every argument with `tg.grad` gets a result
    with `tg.grad_of`: the gradient of the sum of the roots.  A scalar root is
    seeded with 1; a root of any shape may be seeded by an argument with
    `tg.seed = <result number>`, which is the output's gradient, and a root that
    is not a scalar must be.

    Ops say their own gradients (`DifferentiableOpInterface`); a composite
    without one is differentiated through its decomposition.  Contributions to a
    value are added in reverse program order.  A parameter that does not reach a
    root gets zeros and a remark.  An op without a gradient on the way from a
    root to a parameter is an error that shows the way.

    Input:
    ```mlir
    func.func @double(%x: tensor<3xf32> {tg.input = "x", tg.grad}) -> (tensor<f32> {tg.role = "loss"}) {
      %y = arith.addf %x, %x : tensor<3xf32>
      %s = tg.reduce sum %y dims [0] : tensor<3xf32> -> tensor<f32>
      return %s : tensor<f32>
    }
    ```
    Output:
    ```mlir
    func.func @double(%x: tensor<3xf32> {tg.input = "x", tg.grad})
        -> (tensor<f32> {tg.role = "loss"}, tensor<3xf32> {tg.grad_of = "x"}) {
      %y = arith.addf %x, %x : tensor<3xf32>
      %s = tg.reduce sum %y dims [0] : tensor<3xf32> -> tensor<f32>
      %one = arith.constant dense<1.0> : tensor<f32>
      %dy = tg.broadcast %one dims [] : tensor<f32> -> tensor<3xf32>
      %dx = arith.addf %dy, %dy : tensor<3xf32>
      return %s, %dx : tensor<f32>, tensor<3xf32>
    }
    ```
  }];
  let options = [
    Option<"function", "function", "std::string", /*default=*/"",
           "The function to differentiate; without it every function that has a root">,
    ListOption<"root", "root", "int64_t", "Result numbers to differentiate, instead of those with role loss">,
    Option<"paramHooks", "param-hooks", "bool", /*default=*/"false",
           "Put a hook 'param:<name>' on each parameter's gradient, once all uses are summed">,
  ];
  let dependentDialects = ["::braid::tg::TGDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def MarkUnitsPass : Pass<"tg-mark-units", "::mlir::func::FuncOp"> {
  let summary = "Puts hooks where activations enter and leave the units of a model";
  let description = [{
    A unit is named by the `unit` of parameters.  Its ops are those that read its
    parameters; those on a way from one of them to another that does not pass
    through an op of another unit's parameters; and those up to where values of
    the unit alone meet again, such as the residual sum that ends a block.  Each floating-point
    value that is computed from an input and enters the unit gets a hook
    "<unit>.enter", each that leaves it a hook "<unit>.exit", numbered by `order`
    when there are several.  Run before `tg-differentiate` the hooks get partners
    in the backward pass: "<unit>.exit.grad" where it enters the unit and
    "<unit>.enter.grad" where it leaves.

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

def AttachHooksPass : Pass<"tg-attach-hooks", "::mlir::ModuleOp"> {
  let summary = "Puts an op at hook points";
  let description = [{
    `at` names points and `action` says, point by point, what happens there:

    * `scale:F` multiplies the tensor by F,
    * `clip:F` scales it down to a 2-norm of at most F,
    * `norm` adds its 2-norm as a result with `tg.role = "norm:<point>"`,
    * `keep` adds it as a result with `tg.role = "keep:<point>"`.

    The points stay, so that later attachments at the same point act after
    earlier ones; `tg-remove-hooks` takes them out.  Points of one name are
    handled in the order of their `order`; results of the second and later ones
    carry it, as in "norm:<point>:1".  A name that no point has is an error.

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
    ListOption<"at", "at", "std::string", "Names of points">,
    ListOption<"action", "action", "std::string", "What happens at each: scale:F, clip:F, norm or keep">,
  ];
  let dependentDialects = ["::braid::tg::TGDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def RemoveHooksPass : Pass<"tg-remove-hooks", "::mlir::ModuleOp"> {
  let summary = "Takes hook points out of the graph";
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
    ListOption<"at", "at", "std::string", "Names of points; without it all points go">,
  ];
}

//===----------------------------------------------------------------------===//
// The training step
//===----------------------------------------------------------------------===//
//
// Order of a step: tg-transpose-weights, tg-rebatch (only to accumulate),
// tg-make-programs, then on @train: tg-split-loss (only to accumulate),
// tg-differentiate, tg-attach-hooks, tg-accumulate (only to accumulate),
// tg-apply-optimizer.
//
//===----------------------------------------------------------------------===//

def TransposeWeightsPass : Pass<"tg-transpose-weights", "::mlir::func::FuncOp"> {
  let summary = "Store weights that are contracted over their first dim the other way around";
  let description = [{
    Matrix products are fastest with weights stored n x k (k is contracted).  A
    parameter of rank 2 whose every contraction is over dim 0 gets its two dims
    exchanged: the argument's type, the letters of the contractions and the
    attribute's `transposed`, which tells the runtime that checkpoints hold the
    transpose.  Other uses read it through a `tg.transpose`.  Gradients and
    optimizer state follow the argument's type, so this runs before
    differentiation.  Tables of `tg.gather`, and weights contracted over dim 1
    somewhere (tied heads), stay.

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

def RebatchPass : Pass<"tg-rebatch", "::mlir::func::FuncOp"> {
  let summary = "Change the batch size of a graph";
  let description = [{
    The batch starts at dim 0 of the inputs with the role tokens, targets,
    features or labels and follows the sharding rules of the ops.  Types and
    constants change, ops do not: a mean is a mean over the new batch.  An op
    that needs the batch whole, joins it with another batch or splits it is an
    error.

    Input (`factor=2`):
    ```mlir
    func.func @model(%x: tensor<4x2x8xf32> {tg.input = "x", tg.role = "features"}) -> tensor<8x8xf32> {
      %y = tg.reshape %x : tensor<4x2x8xf32> -> tensor<8x8xf32>
      return %y : tensor<8x8xf32>
    }
    ```
    Output:
    ```mlir
    func.func @model(%x: tensor<2x2x8xf32> {tg.input = "x", tg.role = "features"}) -> tensor<4x8xf32> {
      %y = tg.reshape %x : tensor<2x2x8xf32> -> tensor<4x8xf32>
      return %y : tensor<4x8xf32>
    }
    ```
  }];
  let options = [
    Option<"batch", "batch", "int64_t", "0", "The new batch size, in examples">,
    Option<"factor", "factor", "int64_t", "1", "Divide the batch size by this number instead">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def MakeProgramsPass : Pass<"tg-make-programs", "::mlir::ModuleOp"> {
  let summary = "Make the forward graphs of train, eval and generate from the model";
  let description = [{
    The model becomes `@train` (which differentiation and the optimizer complete),
    and leaves the copies `@eval` and `@generate`, which are for inference: without
    dropout, and without the inputs that are then unread.

    * `@train` and `@eval` return the loss alone.
    * `@generate` has batch 1, the input `position` (tensor<i32>), and returns the
      logits [V] of that position.  Where the logits are a contraction, the hidden
      row is picked before it, so the head works on one row.

    Input (`programs=generate`):
    ```mlir
    func.func @model(%t: tensor<2x4xi32> {tg.input = "tokens", tg.role = "tokens"},
                     %e: tensor<16x8xf32> {tg.param = #tg.param<"e", #tg.init<ones>>})
        -> (tensor<2x4x16xf32> {tg.role = "logits"}) {
      %h = tg.gather %e, %t : (tensor<16x8xf32>, tensor<2x4xi32>) -> tensor<2x4x8xf32>
      %l = tg.contract "bsd,vd->bsv" %h, %e : (tensor<2x4x8xf32>, tensor<16x8xf32>) -> tensor<2x4x16xf32>
      return %l : tensor<2x4x16xf32>
    }
    ```
    Output:
    ```mlir
    func.func @generate(%t: tensor<1x4xi32> {tg.input = "tokens", tg.role = "tokens"},
                        %e: tensor<16x8xf32> {tg.param = #tg.param<"e", #tg.init<ones>>},
                        %p: tensor<i32> {tg.input = "position", tg.role = "position"})
        -> (tensor<16xf32> {tg.role = "logits"}) {
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
               "Which programs (train, eval, generate); by default those the model's roles allow">,
  ];
  let dependentDialects = ["::braid::tg::TGDialect", "::mlir::arith::ArithDialect"];
}

def SplitLossPass : Pass<"tg-split-loss", "::mlir::func::FuncOp"> {
  let summary = "Turn a mean loss into a sum and a count";
  let description = [{
    For accumulation over microbatches: a mean of means is wrong when microbatches
    count different numbers of targets, but sums and counts add up.  The loss must
    be a `tg.cross_entropy` or a `tg.reduce` (mean or sum) over the batch, possibly
    reshaped; nothing before it may mix the examples.  A mean becomes a sum, and
    the result with the role `count` is what the sum is to be divided by.  A sum
    stays as it is, without a count.

    Runs on the function to be differentiated, before `tg-differentiate`;
    `tg-accumulate` divides.

    Input:
    ```mlir
    func.func @train(%x: tensor<4x8xf32> {tg.input = "x", tg.role = "features"}) -> (tensor<f32> {tg.role = "loss"}) {
      %l = tg.reduce mean %x dims [0, 1] : tensor<4x8xf32> -> tensor<f32>
      return %l : tensor<f32>
    }
    ```
    Output:
    ```mlir
    func.func @train(%x: tensor<4x8xf32> {tg.input = "x", tg.role = "features"})
        -> (tensor<f32> {tg.role = "loss"}, tensor<f32> {tg.role = "count"}) {
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
  let summary = "Make a step of several microbatches: the programs accumulate and train";
  let description = [{
    Starts from a differentiated `@train` of one microbatch (a sum loss, see
    `tg-split-loss`, and results with `tg.grad_of`).  A step runs `@accumulate` K-1
    times and `@train` once; K is the caller's.

    * Accumulators are states that checkpoints leave out: `acc.<parameter>`,
      `acc.loss` and, if there is a count, `acc.count`.
    * `@accumulate` adds its microbatch to them and returns nothing else.
    * `@train` adds its own microbatch, divides once by the whole count, and leaves
      zeros in the accumulators.

    A value is added where it is made, so that what ranks reduce can begin there.

    Input:
    ```mlir
    func.func @train(%x: tensor<2xf32> {tg.input = "x", tg.role = "features"},
                     %w: tensor<2xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
        -> (tensor<f32> {tg.role = "loss"}, tensor<2xf32> {tg.grad_of = "w"}) {
      %y = arith.mulf %x, %w : tensor<2xf32>
      %l = tg.reduce sum %y dims [0] : tensor<2xf32> -> tensor<f32>
      return %l, %x : tensor<f32>, tensor<2xf32>
    }
    ```
    Output:
    ```mlir
    func.func @train(%x: tensor<2xf32> {tg.input = "x", tg.role = "features"},
                     %w: tensor<2xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                     %al: tensor<f32> {tg.state = #tg.state<"acc.loss", #tg.init<zeros>, cause = "gradients", scratch>},
                     %aw: tensor<2xf32> {tg.state = #tg.state<"acc.w", #tg.init<zeros>, cause = "gradients", scratch>})
        -> (tensor<f32> {tg.role = "loss"}, tensor<2xf32> {tg.grad_of = "w"},
            tensor<f32> {tg.updates = "acc.loss"}, tensor<2xf32> {tg.updates = "acc.w"}) {
      %g = arith.addf %aw, %x : tensor<2xf32>
      %y = arith.mulf %x, %w : tensor<2xf32>
      %l = tg.reduce sum %y dims [0] : tensor<2xf32> -> tensor<f32>
      %loss = arith.addf %al, %l : tensor<f32>
      %zero = arith.constant dense<0.0> : tensor<f32>
      %zeros = arith.constant dense<0.0> : tensor<2xf32>
      return %loss, %g, %zero, %zeros : tensor<f32>, tensor<2xf32>, tensor<f32>, tensor<2xf32>
    }
    func.func @accumulate(%x: tensor<2xf32> {tg.input = "x", tg.role = "features"},
                          %w: tensor<2xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                          %al: tensor<f32> {tg.state = #tg.state<"acc.loss", #tg.init<zeros>, cause = "gradients", scratch>},
                          %aw: tensor<2xf32> {tg.state = #tg.state<"acc.w", #tg.init<zeros>, cause = "gradients", scratch>})
        -> (tensor<f32> {tg.updates = "acc.loss"}, tensor<2xf32> {tg.updates = "acc.w"}) {
      %g = arith.addf %aw, %x : tensor<2xf32>
      %y = arith.mulf %x, %w : tensor<2xf32>
      %l = tg.reduce sum %y dims [0] : tensor<2xf32> -> tensor<f32>
      %loss = arith.addf %al, %l : tensor<f32>
      return %loss, %g : tensor<f32>, tensor<2xf32>
    }
    ```
  }];
  let options = [Option<"functionName", "function", "std::string", "\"train\"", "The differentiated function">];
  let dependentDialects = ["::braid::tg::TGDialect", "::mlir::arith::ArithDialect"];
}

def ApplyOptimizerPass : Pass<"tg-apply-optimizer", "::mlir::func::FuncOp"> {
  let summary = "Turn gradients into updates of parameters and optimizer state";
  let description = [{
    Each result with `tg.grad_of = "p"` becomes the update of p: states
    `p.exp_avg` and `p.exp_avg_sq` (Adam), or `p.momentum_buffer` (SGD with
    momentum), the inputs `lr` and `step` where they are needed, the op, and
    results with `tg.updates`.  The formulas are PyTorch's.  Functions without
    such results stay as they are.

    Weight decay applies to every parameter but those that `decay-exclude` names:
    `biases` (rank 0 or 1, not of a norm), `norms` (scales and shifts of layer and
    RMS norms), `embeddings` (tables: what `tg.gather` reads, tied heads included,
    and what is read by no contraction, such as learned positions).

    `clip` > 0 scales all gradients by min(1, clip / (norm + 1e-6)), where norm is
    the 2-norm of all of them; the result with the role `grad_norm` is the norm
    before that.

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
                     %lr: tensor<f32> {tg.input = "lr", tg.role = "lr"},
                     %m: tensor<2xf32> {tg.state = #tg.state<"w.momentum_buffer", #tg.init<zeros>, cause = "optimizer_state">})
        -> (tensor<2xf32> {tg.updates = "w"}, tensor<2xf32> {tg.updates = "w.momentum_buffer"}) {
      %w1, %m1 = tg.sgd %w, %x, %lr, %m momentum 0.9 decay 0.0
          : (tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
      return %w1, %m1 : tensor<2xf32>, tensor<2xf32>
    }
    ```
  }];
  let options = [
    Option<"optimizer", "optimizer", "std::string", "\"adamw\"", "sgd, momentum, nesterov, adam or adamw">,
    Option<"beta1", "beta1", "double", "0.9", "Adam: decay of the mean, from 0 to 1">,
    Option<"beta2", "beta2", "double", "0.999", "Adam: decay of the squared mean, from 0 to 1">,
    Option<"eps", "eps", "double", "1e-8", "Adam: added to the denominator">,
    Option<"momentum", "momentum", "double", "0.9", "momentum and nesterov: decay of the velocity, from 0 to 1">,
    Option<"weightDecay", "weight-decay", "double", "0.0", "Weight decay, a share of the parameter (times lr) a step">,
    ListOption<"decayExclude", "decay-exclude", "std::string",
               "Parameters without weight decay: biases, norms, embeddings">,
    Option<"clip", "clip", "double", "0.0", "Clip the global norm of the gradients to this; 0 does not clip">,
    Option<"reportNorm", "report-norm", "bool", "false", "Return the norm of the gradients even if nothing is clipped">,
  ];
  let dependentDialects = ["::braid::tg::TGDialect", "::mlir::arith::ArithDialect"];
}

def PrintCostsPass : Pass<"tg-print-costs", "::mlir::func::FuncOp"> {
  let summary = "Say as remarks what each op and the function cost";
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
  let summary = "Say as a remark what the sharding rule of each op is";
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

//===----------------------------------------------------------------------===//
// Towards exec
//===----------------------------------------------------------------------===//

def DecomposePass : Pass<"tg-decompose", "::mlir::func::FuncOp"> {
  let summary = "Replaces composites by their definition in primitives";
  let description = [{
    The last pass over the graph: forward and backward share what differentiation
    chose to save, and nothing after merges a recomputed value with its original.
    `tg.stop_gradient`, which only differentiation reads, goes too.  The new ops
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
    The boundary between the graph and `exec`: no composite, hook or
    `tg.stop_gradient` is left, and every op belongs to `tg`, `arith`, `math` or
    `func`, or is a library call of `exec` that was selected with its epilogue.  In
    the program of a rank (`comm.program`) there may also be ops of `comm`.  Changes
    nothing.

    Leaves:
    ```mlir
    func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {
      %y = math.exp %x : tensor<3xf32>
      return %y : tensor<3xf32>
    }
    ```
  }];
}

#endif // BRAID_PASSES_GRAPH
