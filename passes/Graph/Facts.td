//===- Facts.td - passes about the facts of ops ---------------*- tablegen -*-===//
//
// Facts (dialects/TG/Facts.h) are set by the passes that make ops.  A program that comes
// as text without locations has none: tg-derive-facts finds them from dependences.
// What a parameter is, the model says (tg-note-groups).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_GRAPH_FACTS
#define BRAID_PASSES_GRAPH_FACTS

include "mlir/Pass/PassBase.td"

def NoteGroupsPass : Pass<"tg-note-groups", "::mlir::func::FuncOp"> {
  let summary = "Says of each parameter whether it is a weight, a bias, an embedding or of a norm";
  let description = [{
    What a parameter is follows from what reads it: norms, contractions, look-ups. A bias has at most one dim.
    Passes that lay weights out for ranks change dims and readers, so this pass runs before them, on the model. Its
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
  let summary = "Checks the facts of every op against what depends on what";
  let description = [{
    In a program that trains (it returns gradients or new values), on values at any level
    and in memory, every op that depends on an argument has facts, and the parameters that
    they name are the program's.  On values, dependences must agree with phases:

    * What the loss depends on is forward.
    * What makes the new value of a parameter, a moment or a master is update.
    * What depends on the update is update, and what depends on backward is not forward.
    * Some gradient, what is returned of one (`tg.output`), or the new value of a parameter,
      depends on everything that is backward.

    An op that makes several tensors is checked for each, with what a kernel reads for it; only
    actions may have tensors of different phases.  Lists of facts have one for each tensor, and
    units are those of parameters.  A program that does not train has nothing but forward.

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
  let summary = "Finds the facts of a program that comes as text";
  let description = [{
    For programs on values that were written by hand, at any level: the facts of all ops
    are found from dependences and from what the signature says, and replace those that are
    there.  The compiler never runs it on programs that it makes, whose passes know better.

    * What the loss, the logits or the count depend on is forward; so is everything in a
      program that does not train.
    * From the new value of a parameter or of its state back, what goes through it element
      by element, or moves it, is update, down to where it is made of anything but numbers,
      state and collectives: that makes the gradient.
    * What gradients depend on is backward, the rest update.
    * An op's unit is that of the parameter it reads or makes a tensor of, else the last of
      those that its operands are made in.

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

#endif // BRAID_PASSES_GRAPH_FACTS
