// What is made of an accumulator alone, such as a rank's part of it, is in the stage where a gradient is added to it,
// also if its unit is at both ends.
//
// RUN: braid-opt %s --comm-stages="schedule=gpipe" | FileCheck %s

comm.mesh @mesh [pp = 2, cp = 2]

func.func @accumulate(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                      %v: tensor<4xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "a">},
                      %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "b">},
                      %sum: tensor<f32> {tg.state = #tg.state<"acc.loss", #tg.init<zeros>, kind = accumulator>},
                      %sv: tensor<4xf32> {tg.state = #tg.state<"acc.v", #tg.init<zeros>, of = "v", kind = accumulator>})
    -> (tensor<f32> {tg.updates = "acc.loss"}, tensor<4xf32> {tg.updates = "acc.v"})
    attributes {comm.program = #comm.program<@mesh>} {
  %a = arith.mulf %x, %v : tensor<4xf32> loc(fused<#tg.facts<forward, unit = "a">>["a"])
  %b = arith.mulf %a, %w : tensor<4xf32> loc(fused<#tg.facts<forward, unit = "b">>["b"])
  %l = tg.reduce sum %b dims [0] : tensor<4xf32> -> tensor<f32> loc(fused<#tg.facts<forward, unit = "b">>["l"])
  %nl = arith.addf %sum, %l : tensor<f32> loc(fused<#tg.facts<forward>>["nl"])
  %da = arith.mulf %b, %w : tensor<4xf32> loc(fused<#tg.facts<backward, unit = "b">>["da"])
  %dv = arith.mulf %da, %x : tensor<4xf32> loc(fused<#tg.facts<backward, unit = "a">>["dv"])
  %own = comm.reduce_scatter sum %dv dims [0] over @mesh {cp} : (tensor<4xf32>) -> tensor<2xf32> loc(fused<#tg.facts<backward, unit = "a">>["own"])
  %part = comm.slice %sv dim 0 over @mesh {cp} : tensor<4xf32> -> tensor<2xf32> loc(fused<#tg.facts<backward>>["part"])
  %wide = arith.negf %part : tensor<2xf32> loc(fused<#tg.facts<backward>>["wide"])
  %nv = arith.subf %own, %wide : tensor<2xf32> loc(fused<#tg.facts<backward>>["nv"])
  %whole = comm.all_gather %nv dims [0] over @mesh {cp} : (tensor<2xf32>) -> tensor<4xf32> loc(fused<#tg.facts<backward>>["whole"])
  return %nl, %whole : tensor<f32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @backward_0(
// CHECK-SAME: "acc.v"
// CHECK: %[[PART:.*]] = comm.slice
// CHECK: arith.negf %[[PART]]
// CHECK-LABEL: func.func @backward_1(
// CHECK-NOT: acc.v
// CHECK-NOT: comm.slice
