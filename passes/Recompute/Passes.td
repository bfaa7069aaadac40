//===- Passes.td - what backward computes again -------------*- tablegen -*-===//
//
// Backward reads values of forward, which therefore lie in memory in between.  Some of them
// are computed again instead.  On the rank's program in primitives, before collectives are
// merged and kernels are formed: shapes are local, and what ZeRO-3 gathers again for backward
// it gathers for replays, too.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_RECOMPUTE
#define BRAID_PASSES_RECOMPUTE

include "mlir/Pass/PassBase.td"

def RecomputePass : Pass<"tg-recompute", "::mlir::func::FuncOp"> {
  let summary = "Computes values of forward again in backward";
  let description = [{
    Chooses which values of forward are kept for backward.  All others that it reads are
    computed again, by copies of the ops of forward right before the first reader.  Copies
    are shared by all readers of backward.  They have the phase backward and carry the number of
    the op that they repeat (`tg.replays`, on that op `tg.repeated`).

    What is kept is a minimum cut: the bytes of what is kept and the prices of what is
    replayed are together the least.  `policy` says what a replay costs:

    | `policy` | replays |
    |---|---|
    | `none` | nothing |
    | `attention` | what attention computes, for free: contractions of values of the batch with each other, and what their unit makes of them up to the next weight |
    | `selective` | the same, and at its price all else that contracts nothing with a weight; a byte is worth the time in which 16 are moved |
    | `full` | all that a unit computes, for free: it keeps what enters it |
    | `auto` | everything at its price; a second is worth `bytes-per-second` in the first `units`, in the order of forward, and `rest-bytes-per-second` in the others |

    The file `choices-file`, and after it `choices`, says of units and values what the policy does not:
    a statement `UNIT: none`, `attention`, `selective` or `full`, or `UNIT/VALUE: keep` or
    `replay`, on each line; `;` is a line's end, `#` begins a comment, and names may be globs.
    The first statement that fits counts, those of values before those of units.

    Seconds are those of `lib/Cost`; of ops that become a part of their reader's kernel
    (elementwise ones, conversions, random numbers) arithmetic alone.

    * What one unit makes and another reads is never replayed, so a replay stays within its
      unit.
    * Neither are reductions over ranks, nor what has effects.  Other collectives are, where all
      ranks run the program: each comes to the replays in its order, which `comm-verify-order` checks.
    * Arguments, and what depends on parameters alone, are there in backward anyway.
    * A view of a value (a reshape, slice, transpose, broadcast) is made again and never kept.
    * What the last unit computes is read right away, and the root unit has the loss: `full`
      leaves both alone, and `auto` their contractions.
    * Random numbers depend on the key and on the logical index, so a replay draws the same.

    No CSE may run after this: it would undo it.  A remark for each value says why it is kept or
    replayed, how large it is and how long a replay takes, and one for each unit adds that up.  A program that does not train is left alone.

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
    Option<"policy", "policy", "::braid::RecomputePolicy", "::braid::RecomputePolicy::None", "What is replayed",
           [{::llvm::cl::values(clEnumValN(::braid::RecomputePolicy::None, "none", "nothing"),
                                clEnumValN(::braid::RecomputePolicy::Attention, "attention", "what attention computes"),
                                clEnumValN(::braid::RecomputePolicy::Selective, "selective", "what costs little for its bytes"),
                                clEnumValN(::braid::RecomputePolicy::Full, "full", "all that units compute"),
                                clEnumValN(::braid::RecomputePolicy::Auto, "auto", "what is cheaper than its bytes"))}]>,
    Option<"bytesPerSecond", "bytes-per-second", "::braid::Number", "0",
           "For auto: the bytes that a second of replaying is worth; 0 replays all that it can">,
    Option<"units", "units", "::braid::Integer<0>", "::braid::ReplayWorth().units",
           "For auto: the first units, which bytes-per-second is for (all)">,
    Option<"restBytesPerSecond", "rest-bytes-per-second", "::braid::Number", "::braid::kNoReplays",
           "For auto: what a second is worth in the other units; the default replays nothing">,
    Option<"choicesFile", "choices-file", "std::string", /*default=*/"", "The file with statements about units and values">,
    Option<"choices", "choices", "std::string", /*default=*/"", "More of them, which come after those of the file">,
  ];
}

def VerifyReplaysPass : Pass<"tg-verify-replays", "::mlir::func::FuncOp"> {
  let summary = "Fails if a replay is not what it repeats";
  let description = [{
    An op with `tg.replays` must be backward and repeat an op of forward above it, with that
    number under `tg.repeated`: the same op with the same attributes and types, whose operands
    are the same values or replays of them.  A reduction over ranks, and an op with effects, must
    not be replayed.  Changes nothing.

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
  let summary = "Takes the marks of replays away";
  let description = [{
    Replays are ops like others from here on.  What forward computed for backward alone, and
    backward computes now, is erased where forward had it.

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
