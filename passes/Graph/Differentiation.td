//===- Differentiation.td - gradients, and hooks on them -----*- tablegen -*-===//
//
// Differentiation, and hook points to observe or change activations and gradients. Units get hooks before
// differentiation, parameters after it. Attachments to activations come before differentiation, so that they are
// differentiated; attachments to gradients come after it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_GRAPH_DIFFERENTIATION
#define BRAID_PASSES_GRAPH_DIFFERENTIATION

include "mlir/Pass/PassBase.td"

def DifferentiatePass : Pass<"tg-differentiate", "::mlir::ModuleOp"> {
  let summary = "Appends gradients to a function, by reverse mode";
  let description = [{
    A root is a result with `tg.role = #tg.role<loss>`, or one named by `root`. Every parameter that is not frozen
    and every argument with `tg.grad` gets a result with `tg.grad_of`: the gradient of the sum of the roots. A
    scalar root is seeded with 1. An argument with `tg.seed = <result number>` seeds a root of any shape: it is the
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
           "The function to differentiate; empty: every function with a root">,
    ListOption<"root", "root", "::braid::Integer<0>", "Result numbers to differentiate, instead of those with role loss">,
  ];
  let dependentDialects = ["::braid::tg::TGDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
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
    ListOption<"at", "at", "std::string", "Names of points">,
    ListOption<"action", "action", "std::string", "Action at each point: scale:F, clip:F, norm or keep">,
    Option<"function", "function", "std::string", /*default=*/"",
           "The function that returns the results of norm and keep; empty: every function with the point">,
    Option<"phase", "phase", "::braid::HookTurn", "::braid::HookTurn::All",
           "forward: forward points, and names that no point has are left for later; backward: all other points">,
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
    ListOption<"at", "at", "std::string", "Names of points; empty: all points">,
  ];
}

#endif // BRAID_PASSES_GRAPH_DIFFERENTIATION
