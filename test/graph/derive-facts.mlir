// RUN: braid-opt %s --tg-derive-facts --tg-verify-facts --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// A program that comes as text.  The loss is forward; %d and %g are backward, because the
// gradient depends on them; its norm, which clips it, and the step are update.
// CHECK-LABEL: func.func @train
// CHECK: %[[P:.*]] = arith.mulf {{.*}} loc(fused<#tg.facts<forward, unit = "u">>[
// CHECK: tg.reduce sum %[[P]] {{.*}} loc(fused<#tg.facts<forward, unit = "u">>[
// CHECK: arith.constant {{.*}} loc("{{.*}}mlir"
// CHECK: arith.addf {{.*}} loc(fused<#tg.facts<backward>>[
// CHECK: arith.mulf {{.*}} loc(fused<#tg.facts<backward, unit = "u", of = "w", as = gradient>>[
// CHECK: tg.reduce sum {{.*}} loc(fused<#tg.facts<update>>[
// CHECK: tg.broadcast {{.*}} loc(fused<#tg.facts<update>>[
// CHECK: arith.mulf {{.*}} loc(fused<#tg.facts<update, unit = "u", of = "w", as = gradient>>[
// CHECK: arith.subf {{.*}} loc(fused<#tg.facts<update, unit = "u", of = "w", as = parameter>>[
func.func @train(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "u">})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<4xf32> {tg.updates = "w"}) {
  %p = arith.mulf %x, %w : tensor<4xf32>
  %l = tg.reduce sum %p dims [0] : tensor<4xf32> -> tensor<f32>
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %d = arith.addf %x, %one : tensor<4xf32>
  %g = arith.mulf %x, %d : tensor<4xf32>
  %norm = tg.reduce sum %g dims [0] : tensor<4xf32> -> tensor<f32>
  %scale = tg.broadcast %norm dims [] : tensor<f32> -> tensor<4xf32>
  %clipped = arith.mulf %g, %scale : tensor<4xf32>
  %n = arith.subf %w, %clipped : tensor<4xf32>
  return %l, %n : tensor<f32>, tensor<4xf32>
}

// What does not train is forward.
// CHECK-LABEL: func.func @eval
// CHECK: tg.reduce {{.*}} loc(fused<#tg.facts<forward>>[
func.func @eval(%x: tensor<4xf32> {tg.input = "x"}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %l = tg.reduce sum %x dims [0] : tensor<4xf32> -> tensor<f32>
  return %l : tensor<f32>
}

// A working copy is its master's, and so is what is updated for either.
// CHECK-LABEL: func.func @bf16
// CHECK: arith.mulf {{.*}} loc(fused<#tg.facts<backward, unit = "u", of = "w", as = gradient>>[
// CHECK: tg.convert {{.*}} loc(fused<#tg.facts<backward, unit = "u", of = "w", as = gradient>>[
// CHECK: arith.subf {{.*}} loc(fused<#tg.facts<update, unit = "u", of = "w", as = master>>[
// CHECK: tg.convert {{.*}} loc(fused<#tg.facts<update, unit = "u", of = "w", as = working_copy>>[
func.func @bf16(%x: tensor<4xbf16> {tg.input = "x", tg.role = #tg.role<features>},
                %w: tensor<4xbf16> {tg.param = #tg.param<"w.bf16", #tg.init<ones>, unit = "u", copy_of = "w">},
                %m: tensor<4xf32> {tg.state = #tg.state<"w", #tg.init<ones>, of = "w", kind = master>})
    -> (tensor<bf16> {tg.role = #tg.role<loss>}, tensor<4xf32> {tg.updates = "w"}, tensor<4xbf16> {tg.updates = "w.bf16"}) {
  %p = arith.mulf %x, %w : tensor<4xbf16>
  %l = tg.reduce sum %p dims [0] : tensor<4xbf16> -> tensor<bf16>
  %g = arith.mulf %x, %x : tensor<4xbf16>
  %wide = tg.convert %g : tensor<4xbf16> -> tensor<4xf32>
  %u = arith.subf %m, %wide : tensor<4xf32>
  %n = tg.convert %u : tensor<4xf32> -> tensor<4xbf16>
  return %l, %u, %n : tensor<bf16>, tensor<4xf32>, tensor<4xbf16>
}
