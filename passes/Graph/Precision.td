//===- Precision.td - compute in bf16, keep f32 where it counts --*- tablegen -*-===//
//
// Order: tg-mixed-precision on the model, before its programs are made; then, of
// @train, tg-gradient-precision right after differentiation; tg-working-copies on
// all programs once updates are there.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_GRAPH_PRECISION
#define BRAID_PASSES_GRAPH_PRECISION

include "mlir/Pass/PassBase.td"

def MixedPrecisionPass : Pass<"tg-mixed-precision", "::mlir::func::FuncOp"> {
  let summary = "Computes in bf16 what a policy says, and stays in f32 elsewhere";
  let description = [{
    Ops say which kind they are (`PrecisionOpInterface`), and a table says by kinds
    what runs in bf16:

    * contractions, attention and embeddings do;
    * elementwise ops do between those: with an operand in bf16, on the way to one of them;
    * what only moves numbers follows them;
    * norms, softmax, reductions, losses and optimizers stay in f32, and read in f32
      what others made in bf16.

    Every f32 parameter is read in bf16, even by an op that then computes in f32, so
    that a program needs no other copy of it.  A value is converted once, where it is
    made.  Results of the function, inputs and states keep their types, and so do
    values of other types than f32.

    Input:
    ```mlir
    func.func @model(%x: tensor<4x8xf32> {tg.input = "x"},
                     %w: tensor<16x8xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                     %b: tensor<4x16xf32> {tg.param = #tg.param<"b", #tg.init<zeros>>}) -> tensor<4x16xf32> {
      %y = tg.contract "bd,fd->bf" %x, %w : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
      %z = tg.softmax %y : tensor<4x16xf32>
      %r = arith.addf %z, %b : tensor<4x16xf32>
      return %r : tensor<4x16xf32>
    }
    ```
    Output:
    ```mlir
    func.func @model(%x: tensor<4x8xf32> {tg.input = "x"},
                     %w: tensor<16x8xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                     %b: tensor<4x16xf32> {tg.param = #tg.param<"b", #tg.init<zeros>>}) -> tensor<4x16xf32> {
      %nb = tg.convert %b : tensor<4x16xf32> -> tensor<4x16xbf16>
      %wb = tg.convert %nb : tensor<4x16xbf16> -> tensor<4x16xf32>
      %nw = tg.convert %w : tensor<16x8xf32> -> tensor<16x8xbf16>
      %nx = tg.convert %x : tensor<4x8xf32> -> tensor<4x8xbf16>
      %y = tg.contract "bd,fd->bf" %nx, %nw : (tensor<4x8xbf16>, tensor<16x8xbf16>) -> tensor<4x16xbf16>
      %wy = tg.convert %y : tensor<4x16xbf16> -> tensor<4x16xf32>
      %z = tg.softmax %wy : tensor<4x16xf32>
      %r = arith.addf %z, %wb : tensor<4x16xf32>
      return %r : tensor<4x16xf32>
    }
    ```
  }];
  let options = [
    ListOption<"keepF32", "keep-f32", "std::string",
               "Kinds of ops that stay in f32 besides: contractions, attention, embeddings, elementwise, movement">,
  ];
  let dependentDialects = ["::braid::tg::TGDialect"];
}

def GradientPrecisionPass : Pass<"tg-gradient-precision", "::mlir::func::FuncOp"> {
  let summary = "Gives gradients of parameters their element type";
  let description = [{
    For parameters that are read in bf16.  In f32 a gradient is what its ops compute
    before they round: a contraction of bf16 gives f32, contributions of several uses
    are added in f32.  In bf16 it is rounded, and whoever reads it converts it.

    Runs after `tg-differentiate` and before anything reads gradients.

    Input (`type=f32`):
    ```mlir
    func.func @train(%x: tensor<4x8xbf16>, %dy: tensor<4x16xbf16>,
                     %w: tensor<16x8xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
        -> (tensor<16x8xf32> {tg.grad_of = "w"}) {
      %dw = tg.contract "bf,bd->fd" %dy, %x : (tensor<4x16xbf16>, tensor<4x8xbf16>) -> tensor<16x8xbf16>
      %g = tg.convert %dw : tensor<16x8xbf16> -> tensor<16x8xf32>
      return %g : tensor<16x8xf32>
    }
    ```
    Output:
    ```mlir
    func.func @train(%x: tensor<4x8xbf16>, %dy: tensor<4x16xbf16>,
                     %w: tensor<16x8xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
        -> (tensor<16x8xf32> {tg.grad_of = "w"}) {
      %dw = tg.contract "bf,bd->fd" %dy, %x : (tensor<4x16xbf16>, tensor<4x8xbf16>) -> tensor<16x8xf32>
      return %dw : tensor<16x8xf32>
    }
    ```
  }];
  let options = [
    Option<"type", "type", "std::string", "\"f32\"", "f32 or bf16">,
  ];
  let dependentDialects = ["::braid::tg::TGDialect"];
}

def WorkingCopiesPass : Pass<"tg-working-copies", "::mlir::ModuleOp"> {
  let summary = "Keeps parameters in bf16 and their masters in f32 beside the optimizer's state";
  let description = [{
    A parameter `w` that programs convert to bf16 becomes the bf16 parameter `w.bf16`
    with `copy_of = "w"`, and what updates it an f32 state `w`, its master.  A program
    that updates the master updates the copy last, so every other program finds it
    ready; the runtime makes it of the master when that is initialized or loaded.
    Whatever shards or gathers parameters moves 2 bytes an element, and masters are sharded
    as optimizer state is.

    A parameter that no program updates is bf16 and nothing else.

    Input:
    ```mlir
    func.func @train(%w: tensor<2xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                     %x: tensor<2xbf16> {tg.input = "x"}) -> (tensor<2xf32> {tg.updates = "w"}) {
      %n = tg.convert %w : tensor<2xf32> -> tensor<2xbf16>
      %g = arith.mulf %n, %x : tensor<2xbf16>
      %d = tg.convert %g : tensor<2xbf16> -> tensor<2xf32>
      %u = arith.subf %w, %d : tensor<2xf32>
      return %u : tensor<2xf32>
    }
    ```
    Output:
    ```mlir
    func.func @train(%n: tensor<2xbf16> {tg.param = #tg.param<"w.bf16", #tg.init<ones>, copy_of = "w">},
                     %x: tensor<2xbf16> {tg.input = "x"},
                     %w: tensor<2xf32> {tg.state = #tg.state<"w", #tg.init<ones>, of = "w", kind = master>})
        -> (tensor<2xf32> {tg.updates = "w"}, tensor<2xbf16> {tg.updates = "w.bf16"}) {
      %g = arith.mulf %n, %x : tensor<2xbf16>
      %d = tg.convert %g : tensor<2xbf16> -> tensor<2xf32>
      %u = arith.subf %w, %d : tensor<2xf32>
      %c = tg.convert %u : tensor<2xf32> -> tensor<2xbf16>
      return %u, %c : tensor<2xf32>, tensor<2xbf16>
    }
    ```
  }];
  let dependentDialects = ["::braid::tg::TGDialect"];
}

#endif // BRAID_PASSES_GRAPH_PRECISION
