//===- Passes.td - recomputation of activations -------------*- tablegen -*-===//
//
// Backward reads values of forward, which occupy memory in between. Recomputation (a replay) computes some of them
// again instead. Runs on the rank's program in primitives, before collectives are merged and kernels are formed.
// There shapes are local, and the gathers of ZeRO-3 for backward serve replays, too.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_RECOMPUTE
#define BRAID_PASSES_RECOMPUTE

include "passes/Base/Flag.td"

def RecomputePass : Pass<"tg-recompute", "::mlir::func::FuncOp"> {
  let summary = "Recomputes values of forward in backward";
  let description = [{
    Chooses the values of forward that are kept for backward. Backward computes all others that it reads again:
    copies of the ops of forward stand right before the first reader, and all readers in backward share them. Copies
    have the phase backward. `tg.replays` on a copy and `tg.repeated` on the repeated op hold the same number.

    The kept values are a minimum cut: the sum of kept bytes and of the prices of replayed ops is minimal. `policy`
    sets the prices:

    | `policy` | replays |
    |---|---|
    | `none` | nothing |
    | `attention` | attention, for free: contractions of values of the batch with each other, and the ops of their unit behind them up to the next weight |
    | `selective` | attention, for free, and at their price all other ops besides contractions with a weight; a byte is worth the time in which 16 are moved |
    | `full` | all ops of a unit, for free: a unit keeps only the values that enter it |
    | `auto` | all ops at their price; a second is worth `bytes-per-second` in the first `units`, in the order of forward, and `rest-bytes-per-second` in the others |

    The file `choices-file` overrides the policy for units and values. Each line is a statement `UNIT: none`,
    `attention`, `selective` or `full`, or `UNIT/VALUE: keep` or `replay`. `;` also ends a line, `#` begins a comment,
    and names may be globs. The first statement that matches applies; statements for values precede those for units.
    Without a statement for its value, `tg.kept = true` or `false` on an op of forward decides.

    `lib/Cost` predicts the seconds. For ops that become a part of their reader's kernel (elementwise ops,
    conversions, random numbers) only arithmetic counts.

    * A value that crosses from one unit to another is never replayed, so a replay stays within its unit.
    * Reductions over ranks and ops with effects are never replayed. Other collectives may be, if all ranks run the
      program: ranks then issue the replays in the same order, which `comm-verify-order` checks.
    * Arguments, and values that depend on parameters alone, are available in backward anyway.
    * A view of a value (a reshape, slice, transpose, broadcast) is made again and never kept.
    * Backward reads the values of the last unit right away, and the root unit has the loss. `full` leaves both
      units alone, and `auto` leaves their contractions alone.
    * Random numbers depend on the key and on the logical index, so a replay draws the same.

    No CSE may run after this: it would undo it. A remark for each value gives the reason to keep or replay it, its
    bytes and the seconds of a replay, and one for each unit gives the totals. A program that does not train is left
    alone.

    Input (`policy=selective`):
    ```mlir
    func.func @train(%x: tensor<4x4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                     %w: tensor<4x4xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "u">})
        -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<4x4xf32> {tg.grad_of = "w"}) {
      %a = tg.contract "ab,bc->ac" %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %e = math.exp %a : tensor<4x4xf32>
      %l = tg.reduce sum %e dims [0, 1] : tensor<4x4xf32> -> tensor<f32>
      %s = arith.mulf %a, %e : tensor<4x4xf32>
      %d = tg.contract "ab,ac->bc" %x, %s : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      return %l, %d : tensor<f32>, tensor<4x4xf32>
    }
    ```
    Output:
    ```mlir
    func.func @train(%x: tensor<4x4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                     %w: tensor<4x4xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "u">})
        -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<4x4xf32> {tg.grad_of = "w"}) {
      %a = tg.contract "ab,bc->ac" %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %e = math.exp %a {tg.repeated = 0 : i64} : tensor<4x4xf32>
      %l = tg.reduce sum %e dims [0, 1] : tensor<4x4xf32> -> tensor<f32>
      %r = math.exp %a {tg.replays = 0 : i64} : tensor<4x4xf32>
      %s = arith.mulf %a, %r : tensor<4x4xf32>
      %d = tg.contract "ab,ac->bc" %x, %s : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      return %l, %d : tensor<f32>, tensor<4x4xf32>
    }
    ```
  }];
  let options = [
    Flag<"Memory", "--recompute", "recompute", "policy", "policy", "::braid::RecomputePolicy",
         "::braid::RecomputePolicy::None",
         "Values that backward recomputes instead of keeping them; --report=- shows the alternatives of auto", [{}],
         "none; auto with --memory-limit if the plan would not fit otherwise">,
    Option<"bytesPerSecond", "bytes-per-second", "::braid::Number", "0",
           "For auto: bytes that a second of replay must save; 0 replays every value that may be replayed">,
    Option<"units", "units", "::braid::Integer<0>", "::braid::ReplayThreshold().units",
           "For auto: number of leading units to which bytes-per-second applies (default: all)">,
    Option<"restBytesPerSecond", "rest-bytes-per-second", "::braid::Number", "::braid::kNoReplays",
           "For auto: bytes that a second of replay must save in the other units; the default replays nothing">,
    Flag<"Memory", "--recompute-file", "recompute", "choicesFile", "choices-file", "std::string", /*default=*/"",
         "File with exceptions from --recompute, one per line: UNIT: none, attention, selective or full, or "
             "UNIT/VALUE: keep or replay; names may be globs, and -v lists the names", [{text("FILE")}]>,
  ];
}

def VerifyReplaysPass : Pass<"tg-verify-replays", "::mlir::func::FuncOp"> {
  let summary = "Fails if a replay differs from the op that it repeats";
  let description = [{
    An op with `tg.replays` must be backward and repeat an earlier op of forward, whose `tg.repeated` has the same
    number. Both must be the same op with the same attributes and types, and the operands must be the same values or
    replays of them. A reduction over ranks, and an op with effects, must not be replayed. Changes nothing.

    Leaves:
    ```mlir
    func.func @train(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                     %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
        -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<4xf32> {tg.grad_of = "w"}) {
      %a = arith.mulf %x, %w : tensor<4xf32>
      %e = math.exp %a {tg.repeated = 0 : i64} : tensor<4xf32>
      %l = tg.reduce sum %e dims [0] : tensor<4xf32> -> tensor<f32>
      %r = math.exp %a {tg.replays = 0 : i64} : tensor<4xf32>
      %d = arith.mulf %x, %r : tensor<4xf32>
      return %l, %d : tensor<f32>, tensor<4xf32>
    }
    ```
  }];
}

def FinishReplaysPass : Pass<"tg-finish-replays", "::mlir::func::FuncOp"> {
  let summary = "Removes the marks of replays";
  let description = [{
    Replays are ordinary ops from here on. Ops of forward that only backward read, and that backward now replays,
    are erased. `tg.kept` is removed, too.

    Input:
    ```mlir
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %a = math.exp %x {tg.repeated = 0 : i64} : tensor<4xf32>
      %b = math.exp %x {tg.replays = 0 : i64} : tensor<4xf32>
      return %b : tensor<4xf32>
    }
    ```
    Output:
    ```mlir
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %b = math.exp %x : tensor<4xf32>
      return %b : tensor<4xf32>
    }
    ```
  }];
}

#endif // BRAID_PASSES_RECOMPUTE
