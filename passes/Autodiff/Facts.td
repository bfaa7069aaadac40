//===- Facts.td - passes about the facts of ops ---------------*- tablegen -*-===//
//
// The passes that make ops set facts (dialects/TG/Facts.h). A program that comes as text without locations has
// none: tg-derive-facts finds them from dependences. tg-note-groups finds the kind of each parameter on the model.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_AUTODIFF_FACTS
#define BRAID_PASSES_AUTODIFF_FACTS

include "mlir/Pass/PassBase.td"

def NoteGroupsPass : Pass<"tg-note-groups", "::mlir::func::FuncOp"> {
  let summary = "Classifies each parameter as a weight, a bias, an embedding or a part of a norm";
  let description = [{
    The readers of a parameter (norms, contractions, look-ups) decide its kind. A bias has at most one dim. Passes
    that lay weights out for ranks change dims and readers, so this pass runs before them, on the model. The
    attribute stays on the arguments of `@train` until `tg-apply-optimizer` has read it for `decay-exclude`.

    Input:
    ```mlir
    func.func @model(%x: tensor<4x8xf32> {tg.input = "x"},
                     %w: tensor<8x12xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                     %b: tensor<12xf32> {tg.param = #tg.param<"b", #tg.init<zeros>>}) -> tensor<4x12xf32> {
      %p = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x12xf32>) -> tensor<4x12xf32>
      %r = tg.broadcast %b dims [1] : tensor<12xf32> -> tensor<4x12xf32>
      %y = arith.addf %p, %r : tensor<4x12xf32>
      return %y : tensor<4x12xf32>
    }
    ```
    Output:
    ```mlir
    func.func @model(%x: tensor<4x8xf32> {tg.input = "x"},
                     %w: tensor<8x12xf32> {tg.decay_group = "weights", tg.param = #tg.param<"w", #tg.init<ones>>},
                     %b: tensor<12xf32> {tg.decay_group = "biases", tg.param = #tg.param<"b", #tg.init<zeros>>}) -> tensor<4x12xf32> {
      %p = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x12xf32>) -> tensor<4x12xf32>
      %r = tg.broadcast %b dims [1] : tensor<12xf32> -> tensor<4x12xf32>
      %y = arith.addf %p, %r : tensor<4x12xf32>
      return %y : tensor<4x12xf32>
    }
    ```
  }];
  let dependentDialects = ["::braid::tg::TGDialect"];
}

def VerifyFactsPass : Pass<"tg-verify-facts", "::mlir::ModuleOp"> {
  let summary = "Checks the facts of every op against dependences";
  let description = [{
    Checks programs that train (they return gradients or new values), on values at any level and in memory. Every op
    that depends on an argument must have facts, and the facts must name parameters of the program. On values,
    dependences must agree with phases:

    * Every op that the loss depends on is forward.
    * Every op that makes the new value of a parameter, a moment or a master is update.
    * Every op that depends on update is update, and none that depends on backward is forward.
    * Of every backward op, one of these depends: a gradient, a value that is computed from one and returned
      (`tg.output`), or the new value of a parameter.

    If an op makes several tensors, each tensor is checked, together with the ops of the kernel body that it depends on.
    Only actions may have tensors of different phases. A list of facts has one entry for each tensor, and each unit is
    the unit of a parameter. A program that does not train has only forward.

    Leaves:
    ```mlir
    func.func @train(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                     %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
        -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<4xf32> {tg.updates = "w"}) {
      %p = arith.mulf %x, %w : tensor<4xf32> loc(fused<#tg.facts<forward>>["p"])
      %l = tg.reduce sum %p dims [0] : tensor<4xf32> -> tensor<f32> loc(fused<#tg.facts<forward>>["l"])
      %g = arith.mulf %x, %x : tensor<4xf32> loc(fused<#tg.facts<backward, of = "w", as = gradient>>["p"])
      %n = arith.subf %w, %g : tensor<4xf32> loc(fused<#tg.facts<update, of = "w", as = parameter>>["p"])
      return %l, %n : tensor<f32>, tensor<4xf32>
    }
    ```
  }];
}

def DeriveFactsPass : Pass<"tg-derive-facts", "::mlir::ModuleOp"> {
  let summary = "Derives the facts of a program that was written by hand";
  let description = [{
    For hand-written programs on values, at any level: derives the facts of all ops from dependences and from the
    signature, and replaces existing facts. The compiler never runs this pass on its own programs, whose passes set
    more exact facts.

    * Every op that the loss, the logits or the count depend on is forward; so is every op of a program that does
      not train.
    * Going back from the new value of a parameter or of its state, the walk follows operands that an op processes
      element by element, moves or reduces over ranks. It ends at the op that makes the gradient: the first one that
      reads anything else besides numbers and state. On the way, ops that read a number, state or a value of update
      are update; sums and moves of gradients alone are backward.
    * Every op that gradients depend on is backward; the rest are update.
    * An op has the unit of the parameter that it reads or makes a tensor of. Without one, it has the last of the
      units of its operands.

    Only locations change.  Leaves:
    ```mlir
    func.func @train(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                     %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "u">})
        -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<4xf32> {tg.updates = "w"}) {
      %p = arith.mulf %x, %w : tensor<4xf32>
      %l = tg.reduce sum %p dims [0] : tensor<4xf32> -> tensor<f32>
      %g = arith.mulf %x, %x : tensor<4xf32>
      %n = arith.subf %w, %g : tensor<4xf32>
      return %l, %n : tensor<f32>, tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::braid::tg::TGDialect"];
}

#endif // BRAID_PASSES_AUTODIFF_FACTS
