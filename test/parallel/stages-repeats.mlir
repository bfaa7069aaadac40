// Forward of the second stage makes a mask of what the first one sends, and backward of the first reads the same mask. It
// has all that the mask is made of, and makes it once more.
//
// RUN: braid-opt %s --comm-stages="schedule=gpipe" | FileCheck %s
// CHECK-LABEL: func.func @forward_0(
// CHECK:         arith.mulf
// CHECK-NOT:     arith.cmpf
// CHECK-LABEL: func.func @backward_0(
// CHECK:         %[[T:.*]] = arith.addf %[[A:.*]], %[[A]] : tensor<4xf32>
// CHECK:         %[[M:.*]] = arith.cmpf ogt, %[[T]], %{{.*}} : tensor<4xf32>
// CHECK:         arith.select %[[M]], %{{.*}}, %{{.*}} : tensor<4xi1>, tensor<4xf32>
// CHECK-LABEL: func.func @forward_1(
// CHECK:         arith.addf
// CHECK:         arith.cmpf
// CHECK-LABEL: func.func @backward_1(
// CHECK-NOT:     arith.cmpf
//
// A mask of a weight of the second stage it has not.
// RUN: sed 's/arith.addf %a, %a/arith.addf %a, %w/' %s | not braid-opt - --comm-stages="schedule=gpipe" 2>&1 | FileCheck %s --check-prefix=WEIGHT
// WEIGHT: error: {{.*}}'arith.select' op is in stage 0 of the pipeline, but reads a value that forward makes in stage 1; forward sends values only to later stages: cut the model into other stages
// WEIGHT: note: {{.*}}'arith.cmpf' makes the value here

comm.mesh @mesh [pp = 2]

func.func @accumulate(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                      %v: tensor<4xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "a">},
                      %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "b">},
                      %sv: tensor<4xf32> {tg.state = #tg.state<"acc.v", #tg.init<zeros>, of = "v", kind = accumulator>},
                      %sw: tensor<4xf32> {tg.state = #tg.state<"acc.w", #tg.init<zeros>, of = "w", kind = accumulator>})
    -> (tensor<4xf32> {tg.updates = "acc.v"}, tensor<4xf32> {tg.updates = "acc.w"}) attributes {comm.program = #comm.program<@mesh>} {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %a = arith.mulf %x, %v : tensor<4xf32> loc(fused<#tg.facts<forward, unit = "a">>["a"])
  %t = arith.addf %a, %a : tensor<4xf32> loc(fused<#tg.facts<forward, unit = "b">>["b"])
  %m = arith.cmpf ogt, %t, %zero : tensor<4xf32> loc(fused<#tg.facts<forward, unit = "b">>["b"])
  %k = arith.select %m, %a, %zero : tensor<4xi1>, tensor<4xf32> loc(fused<#tg.facts<forward, unit = "b">>["b"])
  %b = arith.mulf %k, %w : tensor<4xf32> loc(fused<#tg.facts<forward, unit = "b">>["b"])
  %db = arith.mulf %b, %k : tensor<4xf32> loc(fused<#tg.facts<backward, unit = "b", of = "w", as = gradient>>["b"])
  %nw = arith.addf %sw, %db : tensor<4xf32> loc(fused<#tg.facts<backward, unit = "b", of = "w", as = accumulator>>["b"])
  %dk = arith.mulf %b, %w : tensor<4xf32> loc(fused<#tg.facts<backward, unit = "b">>["b"])
  %da = arith.select %m, %dk, %zero : tensor<4xi1>, tensor<4xf32> loc(fused<#tg.facts<backward, unit = "a">>["a"])
  %dv = arith.mulf %da, %x : tensor<4xf32> loc(fused<#tg.facts<backward, unit = "a", of = "v", as = gradient>>["a"])
  %nv = arith.addf %sv, %dv : tensor<4xf32> loc(fused<#tg.facts<backward, unit = "a", of = "v", as = accumulator>>["a"])
  return %nv, %nw : tensor<4xf32>, tensor<4xf32>
}
