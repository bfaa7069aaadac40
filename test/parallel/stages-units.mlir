// Which units each stage gets: balanced by predicted time, or as a text says.
//
// Unit c has as much to do as the others together, so it is alone.
// RUN: braid-opt %s --tg-derive-facts --comm-stages="schedule=gpipe" | FileCheck %s --check-prefix=BALANCED
// BALANCED: stage_units = ["embed, h.0 to h.1", "h.2, head"]
// BALANCED: func.func @forward_0(
// BALANCED-COUNT-2: tg.contract
// BALANCED: func.func @forward_1(
//
// RUN: braid-opt %s --tg-derive-facts --comm-stages="schedule=gpipe stages=embed+h.0|h.1-2+head" | FileCheck %s --check-prefix=TEXT
// RUN: braid-opt %s --tg-derive-facts --comm-stages="schedule=gpipe stages=h.0|h.1+h.2" | FileCheck %s --check-prefix=TEXT
// TEXT: stage_units = ["embed, h.0", "h.1 to h.2, head"]
// TEXT: func.func @forward_0(
// TEXT: tg.contract
// TEXT-NOT: tg.contract
// TEXT: func.func @forward_1(
// TEXT-COUNT-2: tg.contract
//
// Three stages of three units can be cut in one way.
// RUN: sed 's/pp = 2/pp = 3/' %s | braid-opt - --tg-derive-facts --comm-stages="schedule=gpipe" | FileCheck %s --check-prefix=THREE
// THREE: stage_units = ["embed, h.0", "h.1", "h.2, head"]
//
// A model whose units have these names, as an untied head.
// RUN: sed 's/"h.0"/"embed"/; s/"h.2"/"head"/' %s | braid-opt - --tg-derive-facts --comm-stages="schedule=gpipe stages=embed+h.1|head" | FileCheck %s --check-prefix=NAMES
// NAMES: stage_units = ["embed to h.1", "head"]
// RUN: sed 's/"h.0"/"embed"/; s/"h.2"/"head"/' %s | not braid-opt - --tg-derive-facts --comm-stages="schedule=gpipe stages=embed|h.1" 2>&1 | FileCheck %s --check-prefix=NAMED
// NAMED: error: stages 'embed|h.1': the unit 'head' is in no stage
//
// What the text has wrong is named, with the units that there are.
// RUN: not braid-opt %s --tg-derive-facts --comm-stages="schedule=gpipe stages=h.0|h.1|h.2" 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: error: stages 'h.0|h.1|h.2': it names 3 stages, but the ranks have 2
// RUN: not braid-opt %s --tg-derive-facts --comm-stages="schedule=gpipe stages=h.0|embed+h.1-2" 2>&1 | FileCheck %s --check-prefix=EMBED
// EMBED: error: stages 'h.0|embed+h.1-2': 'embed' belongs in the first stage
// RUN: not braid-opt %s --tg-derive-facts --comm-stages="schedule=gpipe stages=h.0+head|h.1-2" 2>&1 | FileCheck %s --check-prefix=HEAD
// HEAD: error: stages 'h.0+head|h.1-2': 'head' belongs in the last stage
// RUN: not braid-opt %s --tg-derive-facts --comm-stages="schedule=gpipe stages=embed|h.0-2" 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: stages 'embed|h.0-2': 'embed' has no unit; each stage needs one
// RUN: not braid-opt %s --tg-derive-facts --comm-stages="schedule=gpipe stages=h.1|h.0+h.2" 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: error: stages 'h.1|h.0+h.2': 'h.1' is named where 'h.0' comes next; the units are h.0, h.1, h.2
// RUN: not braid-opt %s --tg-derive-facts --comm-stages="schedule=gpipe stages=h.0-1|h.1-2" 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: stages 'h.0-1|h.1-2': 'h.1' is named where 'h.2' comes next
// RUN: not braid-opt %s --tg-derive-facts --comm-stages="schedule=gpipe stages=h.0|h.1-3" 2>&1 | FileCheck %s --check-prefix=MORE
// MORE: error: stages 'h.0|h.1-3': 'h.3' is named where nothing comes next
// RUN: not braid-opt %s --tg-derive-facts --comm-stages="schedule=gpipe stages=h.0|h.1" 2>&1 | FileCheck %s --check-prefix=LOST
// LOST: error: stages 'h.0|h.1': the unit 'h.2' is in no stage
// RUN: not braid-opt %s --tg-derive-facts --comm-stages="schedule=gpipe stages=h.0|h.2-1" 2>&1 | FileCheck %s --check-prefix=BACKWARDS
// BACKWARDS: error: stages 'h.0|h.2-1': 'h.2-1' is named where 'h.1' comes next
// RUN: not braid-opt %s --tg-derive-facts --comm-stages="schedule=gpipe stages=h.0||h.1-2" 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: error: stages 'h.0||h.1-2': it names 3 stages, but the ranks have 2
// RUN: not braid-opt %s --tg-derive-facts --comm-stages="schedule=gpipe stages=h.0-99999999999|h.1" 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: error: stages 'h.0-99999999999|h.1': 'h.0-99999999999' is named where 'h.0' comes next
// RUN: not braid-opt %s --tg-derive-facts --comm-stages="schedule=interleaved chunks=2 microbatches=2" 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: error: has 3 units that are not at both ends (h.0, h.1, h.2), but is cut into 4 stages, each of which needs one; reduce pp in --mesh times --chunks to at most 3, or use a model with more layers

comm.mesh @mesh [pp = 2]

// %e has no unit, and is read before the first and behind the last.
func.func @accumulate(%x: tensor<8x8xf32> {tg.input = "x", tg.role = #tg.role<features>},
                      %e: tensor<8x8xf32> {tg.param = #tg.param<"e", #tg.init<ones>, unit = "embedding">},
                      %u: tensor<8x8xf32> {tg.param = #tg.param<"u", #tg.init<ones>, unit = "h.0">},
                      %v: tensor<8x8xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "h.1">},
                      %w: tensor<8x64xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "h.2">},
                      %sum: tensor<f32> {tg.state = #tg.state<"acc.loss", #tg.init<zeros>, kind = accumulator>})
    -> (tensor<f32> {tg.updates = "acc.loss"}) attributes {comm.program = #comm.program<@mesh>} {
  %0 = arith.mulf %x, %e : tensor<8x8xf32>
  %a = tg.contract "bi,io->bo" %0, %u : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = tg.contract "bi,io->bo" %a, %v : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %c = tg.contract "bi,io->bo" %b, %w : (tensor<8x8xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  %d = tg.contract "bo,io->bi" %c, %w : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x8xf32>
  %y = arith.mulf %d, %e : tensor<8x8xf32>
  %l = tg.reduce sum %y dims [0, 1] : tensor<8x8xf32> -> tensor<f32>
  %nl = arith.addf %sum, %l : tensor<f32>
  return %nl : tensor<f32>
}
