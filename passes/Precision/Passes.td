//===- Passes.td - mixed precision in bf16 and f32 ---------*- tablegen -*-===//
//
// Order: tg-mixed-precision on the model, before its programs are made; tg-gradient-precision on @train right after
// differentiation; tg-working-copies and tg-state-precision on all programs once they have updates.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_PRECISION
#define BRAID_PASSES_PRECISION

include "passes/Base/Flag.td"

def MixedPrecisionPass : Pass<"tg-mixed-precision", "::mlir::func::FuncOp"> {
  let summary = "Computes in bf16 where a policy allows it, and in f32 elsewhere";
  let description = [{
    Each op has a kind (`PrecisionOpInterface`), and a table decides by kinds which ops run in bf16:

    * contractions, attention and embeddings run in bf16;
    * elementwise ops between those run in bf16, that is, ops with an operand in bf16 and on a path to one of those;
    * ops that only move data follow their operands;
    * norms, softmax, reductions, losses and optimizers stay in f32, and read bf16 results of other ops in f32.

    Every f32 parameter is read in bf16, even by an op that then computes in f32, so that a program needs only the
    bf16 copy. A value is converted once, behind its producer. Results of the function, inputs and states keep their
    types, and so do values of types other than f32.

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
               "Additional kinds of ops that stay in f32: contractions, attention, embeddings, elementwise, movement">,
  ];
  let dependentDialects = ["::braid::tg::TGDialect"];
}

def GradientPrecisionPass : Pass<"tg-gradient-precision", "::mlir::func::FuncOp"> {
  let summary = "Sets the element type of parameter gradients";
  let description = [{
    Applies to parameters that are read in bf16. With `type=f32` a gradient is the result of its ops before
    rounding: a contraction of bf16 gives f32, and contributions of several uses are added in f32. With `type=bf16`
    it is rounded, and its readers convert it.

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
    Flag<"Precision", "--grad-dtype", "gradients", "type", "type", "::braid::ElementType", "::braid::ElementType::F32",
         "With --precision=bf16: element type in which parameter gradients are stored and summed over microbatches">,
  ];
  let dependentDialects = ["::braid::tg::TGDialect"];
}

def WorkingCopiesPass : Pass<"tg-working-copies", "::mlir::ModuleOp"> {
  let summary = "Keeps parameters in bf16 and their masters in f32 beside the optimizer's state";
  let description = [{
    A parameter `w` that programs convert to bf16 becomes the bf16 parameter `w.bf16` with `copy_of = "w"`. Updates
    work on its master, an f32 state `w`. A program that updates the master updates the copy last, so every other
    program finds it ready. The runtime computes the copy when the master is initialized or loaded. Sharding and
    gathering of parameters move 2 bytes an element, and masters are sharded like optimizer state.

    A parameter that no program updates is bf16 and has no master.

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

def StatePrecisionPass : Pass<"tg-state-precision", "::mlir::func::FuncOp"> {
  let summary = "Keeps the moments of optimizers in bf16 or in 8 bits";
  let description = [{
    With `type=bf16` every f32 moment that a `tg.update` reads and replaces is stored in bf16, whatever the
    optimizer: the update reads it in f32, computes as before, and rounds the new moment stochastically. Rounded to
    nearest, a moment that changes by less than 1/256 of itself would never change: with beta2 = 0.999 Adam's
    variance could not shrink.

    A number `t` in [0, 1) decides between the two neighbours of `x` in bf16. `x` becomes the farther neighbour if
    `t` is less than the distance of `x` from the nearest one, as a part of the gap. `t` comes from the step and
    from the parameter's bits below bf16, so it needs no index. The update stays elementwise, on flat shards too,
    and one kernel. The same parameter, gradient and step give the same bits on every layout and every number of
    ranks. The program reads the step even if the optimizer does not.

    With `type=int8` a moment is stored in codes of 8 bits, and every block of a row has a scale in f32 (see
    `tg.quantize`). The scales are an additional state, named like the moment with the suffix `.scale`. The update
    reads and writes moments as f32, and a `t` from the step and the gradient's low bits decides between a code and
    the next. A nonzero moment is never stored as zero, because a variance of zero would make the next step of its
    parameter huge.

    A block is the largest of 32 to 128 neighbours that divides the rows of the tensor, or the part of a row that a
    rank has by the layout of its parameter. It must also divide the part on each of `ranks` ranks, so that flat
    ranges of ZeRO hold whole blocks. Without such a block, for example for parameters with fewer than 32 numbers in
    a row, the moment is stored in bf16, and a remark says so.

    Parameters, masters, and moments of parameters that are not f32 are left alone. With `type=f32` the pass does
    nothing.

    Runs right after `tg-apply-optimizer`, while updates are one op each.

    Input (`type=bf16`):
    ```mlir
    func.func @train(%p: tensor<8xf32> {tg.param = #tg.param<"p", #tg.init<ones>>},
                     %g: tensor<8xf32> {tg.input = "g"},
                     %lr: tensor<f32> {tg.input = "lr", tg.role = #tg.role<lr>},
                     %m: tensor<8xf32> {tg.state = #tg.state<"p.exp_avg", #tg.init<zeros>, of = "p", kind = moment>})
        -> (tensor<8xf32> {tg.updates = "p"}, tensor<8xf32> {tg.updates = "p.exp_avg"}) {
      %p1, %m1 = tg.update "lion" %p, %g, %lr states %m {beta1 = 0.9, beta2 = 0.99, weight_decay = 0.0}
          : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
      return %p1, %m1 : tensor<8xf32>, tensor<8xf32>
    }
    ```
    Output:
    ```mlir
    func.func @train(%arg0: tensor<8xf32> {tg.param = #tg.param<"p", #tg.init<ones>>},
                     %arg1: tensor<8xf32> {tg.input = "g"},
                     %arg2: tensor<f32> {tg.input = "lr", tg.role = #tg.role<lr>},
                     %arg3: tensor<8xbf16> {tg.state = #tg.state<"p.exp_avg", #tg.init<zeros>, of = "p", kind = moment>},
                     %arg4: tensor<i32> {tg.input = "step", tg.role = #tg.role<step>})
        -> (tensor<8xf32> {tg.updates = "p"}, tensor<8xbf16> {tg.updates = "p.exp_avg"}) {
      %0 = tg.convert %arg0 : tensor<8xf32> -> tensor<8xbf16>
      %1 = tg.convert %0 : tensor<8xbf16> -> tensor<8xf32>
      %2 = arith.subf %arg0, %1 : tensor<8xf32>
      %3 = math.absf %1 : tensor<8xf32>
      %cst = arith.constant dense<4.687500e-03> : tensor<8xf32>
      %4 = arith.mulf %3, %cst : tensor<8xf32>
      %cst_0 = arith.constant dense<0.000000e+00> : tensor<8xf32>
      %5 = arith.cmpf ogt, %2, %cst_0 : tensor<8xf32>
      %6 = arith.negf %4 : tensor<8xf32>
      %7 = arith.select %5, %4, %6 : tensor<8xi1>, tensor<8xf32>
      %8 = arith.addf %1, %7 : tensor<8xf32>
      %9 = tg.convert %8 : tensor<8xf32> -> tensor<8xbf16>
      %10 = tg.convert %9 : tensor<8xbf16> -> tensor<8xf32>
      %11 = arith.subf %10, %1 : tensor<8xf32>
      %cst_1 = arith.constant dense<0.000000e+00> : tensor<8xf32>
      %12 = arith.cmpf one, %11, %cst_1 : tensor<8xf32>
      %cst_2 = arith.constant dense<0.000000e+00> : tensor<8xf32>
      %13 = arith.divf %2, %11 : tensor<8xf32>
      %14 = arith.select %12, %13, %cst_2 : tensor<8xi1>, tensor<8xf32>
      %cst_3 = arith.constant dense<32767> : tensor<i32>
      %cst_4 = arith.constant dense<20251> : tensor<i32>
      %15 = arith.andi %arg4, %cst_3 : tensor<i32>
      %16 = arith.muli %15, %cst_4 : tensor<i32>
      %17 = arith.andi %16, %cst_3 : tensor<i32>
      %18 = tg.convert %17 : tensor<i32> -> tensor<f32>
      %cst_5 = arith.constant dense<3.05175781E-5> : tensor<f32>
      %19 = arith.mulf %18, %cst_5 : tensor<f32>
      %20 = tg.convert %arg3 : tensor<8xbf16> -> tensor<8xf32>
      %newParam, %newStates = tg.update "lion" %arg0, %arg1, %arg2 states %20 {beta1 = 9.000000e-01 : f64, beta2 = 0.98999999999999999 : f64, weight_decay = 0.000000e+00 : f64}
          : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
      %cst_6 = arith.constant dense<6.100000e+01> : tensor<8xf32>
      %21 = arith.mulf %14, %cst_6 : tensor<8xf32>
      %22 = tg.broadcast %19 dims [] : tensor<f32> -> tensor<8xf32>
      %23 = arith.addf %21, %22 : tensor<8xf32>
      %24 = math.floor %23 : tensor<8xf32>
      %25 = arith.subf %23, %24 : tensor<8xf32>
      %26 = tg.convert %newStates : tensor<8xf32> -> tensor<8xbf16>
      %27 = tg.convert %26 : tensor<8xbf16> -> tensor<8xf32>
      %28 = arith.subf %newStates, %27 : tensor<8xf32>
      %29 = math.absf %27 : tensor<8xf32>
      %cst_7 = arith.constant dense<4.687500e-03> : tensor<8xf32>
      %30 = arith.mulf %29, %cst_7 : tensor<8xf32>
      %cst_8 = arith.constant dense<0.000000e+00> : tensor<8xf32>
      %31 = arith.cmpf ogt, %28, %cst_8 : tensor<8xf32>
      %32 = arith.negf %30 : tensor<8xf32>
      %33 = arith.select %31, %30, %32 : tensor<8xi1>, tensor<8xf32>
      %34 = arith.addf %27, %33 : tensor<8xf32>
      %35 = tg.convert %34 : tensor<8xf32> -> tensor<8xbf16>
      %36 = tg.convert %35 : tensor<8xbf16> -> tensor<8xf32>
      %37 = arith.subf %36, %27 : tensor<8xf32>
      %cst_9 = arith.constant dense<0.000000e+00> : tensor<8xf32>
      %38 = arith.cmpf one, %37, %cst_9 : tensor<8xf32>
      %cst_10 = arith.constant dense<0.000000e+00> : tensor<8xf32>
      %39 = arith.divf %28, %37 : tensor<8xf32>
      %40 = arith.select %38, %39, %cst_10 : tensor<8xi1>, tensor<8xf32>
      %41 = arith.cmpf olt, %25, %40 : tensor<8xf32>
      %42 = arith.select %41, %35, %26 : tensor<8xi1>, tensor<8xbf16>
      return %newParam, %42 : tensor<8xf32>, tensor<8xbf16>
    }
    ```
  }];
  let options = [
    Flag<"Precision", "--optimizer-state", "moments", "type", "type", "::braid::MomentType", "::braid::MomentType::F32",
         "Element type in which the optimizer's moments are stored; updates compute in f32">,
    Option<"ranks", "ranks", "::braid::Integer<1>", "1",
           "Largest number of ranks that shard a moment; each rank gets whole blocks">,
  ];
  let dependentDialects = ["::braid::tg::TGDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

#endif // BRAID_PASSES_PRECISION
