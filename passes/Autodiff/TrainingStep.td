//===- TrainingStep.td - gradients, microbatches, optimizer *- tablegen -*-===//
//
// Order on @train: tg-split-loss (to accumulate), tg-differentiate, tg-mark-gradients, tg-accumulate,
// tg-apply-optimizer.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_AUTODIFF_TRAININGSTEP
#define BRAID_PASSES_AUTODIFF_TRAININGSTEP

include "passes/Base/Flag.td"

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
  let options = [Option<"functionName", "function", "std::string", "\"train\"", "Function with the loss to split">];
  let dependentDialects = ["::braid::tg::TGDialect", "::mlir::arith::ArithDialect"];
}

def DifferentiatePass : Pass<"tg-differentiate", "::mlir::ModuleOp"> {
  let summary = "Appends gradients to a function, by reverse mode";
  let description = [{
    A root is a result with `tg.role = #tg.role<loss>`, or one named by `root`. Every parameter that is not frozen
    and every argument with `tg.grad` gets a result with `tg.grad_of`: the gradient of the sum of the roots. A
    parameter whose new value the function returns gets none: its gradient is in the function. A scalar root is seeded with 1. An argument with `tg.seed = <result number>` seeds a root of any shape: it is the
    output's gradient. A root that is not a scalar must have such an argument.

    Ops build their own gradients (`DifferentiableOpInterface`); a composite without one is differentiated through
    its decomposition. Contributions to a value are added in reverse program order. A parameter that does not reach
    a root gets zeros and a remark. An op without a gradient on a path from a root to a parameter is an error that
    shows the path.

    Input:
    ```mlir
    func.func @double(%x: tensor<3xf32> {tg.input = "x", tg.grad}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
      %y = arith.addf %x, %x : tensor<3xf32>
      %s = tg.reduce sum %y dims [0] : tensor<3xf32> -> tensor<f32>
      return %s : tensor<f32>
    }
    ```
    Output:
    ```mlir
    func.func @double(%x: tensor<3xf32> {tg.input = "x", tg.grad})
        -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<3xf32> {tg.grad_of = "x"}) {
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
           "Function to differentiate; empty: every function with a root">,
    ListOption<"root", "root", "::braid::Integer<0>",
               "Result numbers to differentiate; by default the results with role loss">,
  ];
  let dependentDialects = ["::braid::tg::TGDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def MarkGradientsPass : Pass<"tg-mark-gradients", "::mlir::func::FuncOp"> {
  let summary = "Puts hooks on the gradients of parameters";
  let description = [{
    Each result with `tg.grad_of` of a parameter gets a hook "param:<name>".  Behind
    `tg-accumulate` that is the gradient of the whole step.

    Input:
    ```mlir
    func.func @f(%w: tensor<3xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}, %x: tensor<3xf32> {tg.input = "x"})
        -> (tensor<3xf32> {tg.grad_of = "w"}) {
      %dw = arith.addf %x, %x : tensor<3xf32>
      return %dw : tensor<3xf32>
    }
    ```
    Output:
    ```mlir
    func.func @f(%w: tensor<3xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}, %x: tensor<3xf32> {tg.input = "x"})
        -> (tensor<3xf32> {tg.grad_of = "w"}) {
      %dw = arith.addf %x, %x : tensor<3xf32>
      %0 = tg.hook %dw "param:w" order 0 : tensor<3xf32>
      return %0 : tensor<3xf32>
    }
    ```
  }];
  let dependentDialects = ["::braid::tg::TGDialect"];
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
  let options = [Option<"functionName", "function", "std::string", "\"train\"", "Differentiated function">,
                 Option<"separateUpdate", "separate-update", "bool", "false",
                        "Compute all microbatches in @accumulate, and only the update in @train">];
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
         "Optimizer; the names are listed with their default hyperparameters", [{text("NAME")}], "",
         [{, listing(optimizers)}]>,
    ListOption<"hyperparameters", "hyperparameters", "std::string",
               "Hyperparameters of the optimizer, as in beta1=0.9,eps=1e-6; the others have the optimizer's defaults">,
    ListOption<"decayExclude", "decay-exclude", "std::string",
               "Parameters without weight decay: biases (except of norms), norms (with their biases), embeddings">,
    Flag<"Optimizer", "--clip", "optimizer", "clip", "clip", "::braid::Number", "0.0",
         "Largest global norm of the gradients; larger gradients are scaled down to it; 0: no limit", [{kAnyNumber}]>,
    Option<"reportNorm", "report-norm", "bool", "false",
           "Return the global norm of the gradients even without clipping">,
  ];
  let dependentDialects = ["::braid::tg::TGDialect", "::mlir::arith::ArithDialect"];
}

#endif // BRAID_PASSES_AUTODIFF_TRAININGSTEP
