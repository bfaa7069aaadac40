// A model that updates its parameters itself is a whole step. Its own gradients and updates belong to the update, and
// no other gradient is added. Only @train has them.
//
// RUN: braid-opt %s --tg-make-programs --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefixes=CHECK,FACTS
// RUN: braid-opt %s --tg-make-programs --tg-differentiate=function=train --tg-apply-optimizer | FileCheck %s

// CHECK-LABEL: func.func @train
// CHECK-SAME: -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<3xf32> {tg.updates = "w"}, tensor<3xf32> {tg.updates = "m"})
// CHECK: tg.broadcast
// FACTS-SAME: #tg.facts<forward>
// CHECK: arith.mulf
// FACTS-SAME: #tg.facts<forward>
// CHECK: tg.reduce mean {{.*}} dims [0, 1]
// FACTS-SAME: #tg.facts<forward>
// CHECK: tg.reduce mean {{.*}} dims [0]
// FACTS-SAME: #tg.facts<update, of = "m", as = running_statistic>
// CHECK: arith.addf
// FACTS-SAME: #tg.facts<update, of = "m", as = running_statistic>
// CHECK: arith.subf
// FACTS-SAME: #tg.facts<update, of = "w", as = parameter>
// CHECK-NEXT: return
// CHECK-LABEL: func.func @eval
// CHECK-SAME: -> (tensor<f32> {tg.role = #tg.role<loss>})
// CHECK-NOT: arith.subf
func.func @model(%x: tensor<12x3xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %w: tensor<3xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                 %m: tensor<3xf32> {tg.state = #tg.state<"m", #tg.init<zeros>, kind = running_statistic>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<3xf32> {tg.updates = "w"}, tensor<3xf32> {tg.updates = "m"}) {
  %rows = tg.broadcast %w dims [1] : tensor<3xf32> -> tensor<12x3xf32>
  %y = arith.mulf %x, %rows : tensor<12x3xf32>
  %loss = tg.reduce mean %y dims [0, 1] : tensor<12x3xf32> -> tensor<f32>
  %gradient = tg.reduce mean %x dims [0] : tensor<12x3xf32> -> tensor<3xf32>
  %sum = arith.addf %m, %gradient : tensor<3xf32>
  %new = arith.subf %w, %sum : tensor<3xf32>
  return %loss, %new, %sum : tensor<f32>, tensor<3xf32>, tensor<3xf32>
}
