// Activations flow forward and gradients back.  A program in which they do not cannot be cut there.
//
// RUN: not braid-opt %s --split-input-file --comm-stages="schedule=gpipe" 2>&1 | FileCheck %s --implicit-check-not=error:

// The sum of the loss is made in the last stage, and forward of a reads it.
// CHECK: error: {{.*}}is in stage 0 of the pipeline, but reads a value that forward makes in stage 1; forward sends values only to later stages: cut the model into other stages
comm.mesh @mesh [pp = 2]
func.func @accumulate(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                      %v: tensor<4xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "a">},
                      %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "b">},
                      %sum: tensor<4xf32> {tg.state = #tg.state<"acc.loss", #tg.init<zeros>, kind = accumulator>})
    -> (tensor<4xf32> {tg.updates = "acc.loss"}) attributes {comm.program = #comm.program<@mesh>} {
  %s = arith.addf %sum, %x : tensor<4xf32> loc(fused<#tg.facts<forward>>["a"])
  %a = arith.mulf %s, %v : tensor<4xf32> loc(fused<#tg.facts<forward, unit = "a">>["a"])
  %b = arith.mulf %a, %w : tensor<4xf32> loc(fused<#tg.facts<forward, unit = "b">>["b"])
  return %b : tensor<4xf32>
}

// -----

// Backward of b reads a gradient of a.
// CHECK: error: {{.*}}is in stage 1 of the pipeline, but reads a value that backward makes in stage 0; backward sends values only to earlier stages: cut the model into other stages
comm.mesh @mesh [pp = 2]
func.func @accumulate(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                      %v: tensor<4xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "a">},
                      %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "b">},
                      %sum: tensor<4xf32> {tg.state = #tg.state<"acc.w", #tg.init<zeros>, of = "w", kind = accumulator>})
    -> (tensor<4xf32> {tg.updates = "acc.w"}) attributes {comm.program = #comm.program<@mesh>} {
  %a = arith.mulf %x, %v : tensor<4xf32> loc(fused<#tg.facts<forward, unit = "a">>["a"])
  %b = arith.mulf %a, %w : tensor<4xf32> loc(fused<#tg.facts<forward, unit = "b">>["b"])
  %da = arith.mulf %a, %v : tensor<4xf32> loc(fused<#tg.facts<backward, unit = "a">>["a"])
  %db = arith.mulf %da, %w : tensor<4xf32> loc(fused<#tg.facts<backward, unit = "b", of = "w", as = gradient>>["b"])
  %s = arith.addf %sum, %db : tensor<4xf32> loc(fused<#tg.facts<backward, unit = "b", of = "w", as = accumulator>>["b"])
  return %s : tensor<4xf32>
}
