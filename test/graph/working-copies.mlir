// Parameters in bf16 and masters in f32, over all programs of a module.
//
// RUN: braid-opt %s --tg-working-copies --split-input-file | FileCheck %s

// The program that updates has both; the copy follows the master.  Another program has
// the copy alone.  What its storage and its place are, both have.
// CHECK-LABEL: func.func @train
// CHECK-SAME: %[[C:[a-z0-9]+]]: tensor<2x3xbf16> {tg.param = #tg.param<"w.bf16", #tg.init<ones>, unit = "u", copy_of = "w", transposed>}
// CHECK-SAME: %[[M:[a-z0-9]+]]: tensor<2x3xf32> {tg.state = #tg.state<"w", #tg.init<ones>, of = "w", kind = master, transposed>}
// CHECK-SAME: -> (tensor<2x3xf32> {tg.updates = "w"}, tensor<2x3xbf16> {tg.updates = "w.bf16"})
// CHECK-NEXT: %[[G:.*]] = arith.addf %[[C]], %[[C]] : tensor<2x3xbf16>
// CHECK-NEXT: %[[W:.*]] = tg.convert %[[G]]
// CHECK-NEXT: %[[U:.*]] = arith.subf %[[M]], %[[W]] : tensor<2x3xf32>
// CHECK-NEXT: %[[N:.*]] = tg.convert %[[U]] : tensor<2x3xf32> -> tensor<2x3xbf16>
// CHECK-NEXT: return %[[U]], %[[N]]
// CHECK-LABEL: func.func @eval
// CHECK-SAME: %[[C:[a-z0-9]+]]: tensor<2x3xbf16> {tg.param = #tg.param<"w.bf16", {{.*}}>}) -> tensor<2x3xbf16>
// CHECK-NEXT: return %[[C]]
func.func @train(%w: tensor<2x3xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "u", transposed>})
    -> (tensor<2x3xf32> {tg.updates = "w"}) {
  %n = tg.convert %w : tensor<2x3xf32> -> tensor<2x3xbf16>
  %g = arith.addf %n, %n : tensor<2x3xbf16>
  %d = tg.convert %g : tensor<2x3xbf16> -> tensor<2x3xf32>
  %u = arith.subf %w, %d : tensor<2x3xf32>
  return %u : tensor<2x3xf32>
}
func.func @eval(%w: tensor<2x3xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "u", transposed>}) -> tensor<2x3xbf16> {
  %n = tg.convert %w : tensor<2x3xf32> -> tensor<2x3xbf16>
  return %n : tensor<2x3xbf16>
}

// -----

// A frozen parameter is bf16 and has no master; one that is read in f32 alone stays.
// CHECK-LABEL: func.func @train
// CHECK-SAME: tensor<2xbf16> {tg.param = #tg.param<"f", #tg.init<ones>, frozen>}
// CHECK-SAME: tensor<2xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> (tensor<2xbf16>, tensor<2xf32> {tg.updates = "w"})
func.func @train(%f: tensor<2xf32> {tg.param = #tg.param<"f", #tg.init<ones>, frozen>},
                 %w: tensor<2xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> (tensor<2xbf16>, tensor<2xf32> {tg.updates = "w"}) {
  %n = tg.convert %f : tensor<2xf32> -> tensor<2xbf16>
  %u = arith.addf %w, %w : tensor<2xf32>
  return %n, %u : tensor<2xbf16>, tensor<2xf32>
}
