// RUN: not braid-opt %s --split-input-file --tg-verify-facts -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=error:

// Facts are checked against what depends on what.  The first program is right; each of the
// others plants one fact that is wrong.

func.func @right(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<4xf32> {tg.updates = "w"}) {
  %p = arith.mulf %x, %w : tensor<4xf32> loc(fused<#tg.facts<forward>>["p"])
  %l = tg.reduce sum %p dims [0] : tensor<4xf32> -> tensor<f32> loc(fused<#tg.facts<forward>>["l"])
  %d = arith.addf %x, %x : tensor<4xf32> loc(fused<#tg.facts<backward>>["p"])
  %g = arith.mulf %x, %d : tensor<4xf32> loc(fused<#tg.facts<backward, of = "w", as = gradient>>["p"])
  %n = arith.subf %w, %g : tensor<4xf32> loc(fused<#tg.facts<update, of = "w", as = parameter>>["p"])
  return %l, %n : tensor<f32>, tensor<4xf32>
}

// A program that does not train needs no facts.
func.func @eval(%x: tensor<4xf32> {tg.input = "x"}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %l = tg.reduce sum %x dims [0] : tensor<4xf32> -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// CHECK: error: 'arith.mulf' op has no facts, so its phase (forward, backward or update) is unknown; run tg-derive-facts on programs read from text
func.func @missing(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                   %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<4xf32> {tg.updates = "w"}) {
  %c = arith.constant dense<1.0> : tensor<4xf32>
  %p = arith.mulf %x, %w : tensor<4xf32>
  %l = tg.reduce sum %p dims [0] : tensor<4xf32> -> tensor<f32> loc(fused<#tg.facts<forward>>["l"])
  %n = arith.subf %w, %c : tensor<4xf32> loc(fused<#tg.facts<update, of = "w", as = parameter>>["n"])
  return %l, %n : tensor<f32>, tensor<4xf32>
}

// -----

// CHECK: error: loc({{.*}}["p"]): 'arith.mulf' op is backward by its facts, but the loss depends on it
func.func @backward_loss(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                         %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<4xf32> {tg.updates = "w"}) {
  %p = arith.mulf %x, %w : tensor<4xf32> loc(fused<#tg.facts<backward>>["p"])
  %l = tg.reduce sum %p dims [0] : tensor<4xf32> -> tensor<f32> loc(fused<#tg.facts<forward>>["l"])
  %n = arith.subf %w, %x : tensor<4xf32> loc(fused<#tg.facts<update, of = "w", as = parameter>>["n"])
  return %l, %n : tensor<f32>, tensor<4xf32>
}

// -----

// CHECK: error: loc({{.*}}["d"]): 'arith.addf' op is backward by its facts, but no gradient depends on it
func.func @no_gradient(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                       %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<f32> {tg.role = #tg.role<grad_norm>}, tensor<4xf32> {tg.updates = "w"}) {
  %l = tg.reduce sum %x dims [0] : tensor<4xf32> -> tensor<f32> loc(fused<#tg.facts<forward>>["l"])
  %d = arith.addf %x, %x : tensor<4xf32> loc(fused<#tg.facts<backward>>["d"])
  %s = tg.reduce sum %d dims [0] : tensor<4xf32> -> tensor<f32> loc(fused<#tg.facts<update>>["s"])
  %n = arith.subf %w, %x : tensor<4xf32> loc(fused<#tg.facts<update, of = "w", as = parameter>>["n"])
  return %l, %s, %n : tensor<f32>, tensor<f32>, tensor<4xf32>
}

// -----

// CHECK: error: loc({{.*}}["h"]): 'arith.negf' op is backward by its facts, but reads a value made in update
// CHECK: note: loc({{.*}}["g"]): it is made here
func.func @reads_update(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                        %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<4xf32> {tg.updates = "w"}) {
  %l = tg.reduce sum %x dims [0] : tensor<4xf32> -> tensor<f32> loc(fused<#tg.facts<forward>>["l"])
  %g = arith.mulf %x, %x : tensor<4xf32> loc(fused<#tg.facts<update>>["g"])
  %h = arith.negf %g : tensor<4xf32> loc(fused<#tg.facts<backward, of = "w", as = gradient>>["h"])
  %n = arith.subf %w, %h : tensor<4xf32> loc(fused<#tg.facts<update, of = "w", as = parameter>>["n"])
  return %l, %n : tensor<f32>, tensor<4xf32>
}

// -----

// CHECK: error: loc({{.*}}["n"]): 'arith.subf' op is backward by its facts, but makes the new value of "w"
func.func @backward_update(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                           %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<4xf32> {tg.updates = "w"}) {
  %l = tg.reduce sum %x dims [0] : tensor<4xf32> -> tensor<f32> loc(fused<#tg.facts<forward>>["l"])
  %n = arith.subf %w, %x : tensor<4xf32> loc(fused<#tg.facts<backward, of = "w", as = gradient>>["n"])
  return %l, %n : tensor<f32>, tensor<4xf32>
}

// -----

// CHECK: error: loc({{.*}}["g"]): 'arith.mulf' op makes a tensor of "v" by its facts, but the module has no such parameter
func.func @unknown(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                   %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<4xf32> {tg.updates = "w"}) {
  %l = tg.reduce sum %x dims [0] : tensor<4xf32> -> tensor<f32> loc(fused<#tg.facts<forward>>["l"])
  %g = arith.mulf %x, %x : tensor<4xf32> loc(fused<#tg.facts<backward, of = "v", as = gradient>>["g"])
  %n = arith.subf %w, %g : tensor<4xf32> loc(fused<#tg.facts<update, of = "w", as = parameter>>["n"])
  return %l, %n : tensor<f32>, tensor<4xf32>
}

// -----

// CHECK: error: loc({{.*}}["l"]): 'tg.reduce' op is update by its facts, but its program does not train
func.func @eval(%x: tensor<4xf32> {tg.input = "x"}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %l = tg.reduce sum %x dims [0] : tensor<4xf32> -> tensor<f32> loc(fused<#tg.facts<update>>["l"])
  return %l : tensor<f32>
}

// -----

// CHECK: error: loc({{.*}}["g"]): 'arith.mulf' op works for the unit "h.1" by its facts, but no parameter belongs to the unit
func.func @unit(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "h.0">})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<4xf32> {tg.updates = "w"}) {
  %l = tg.reduce sum %x dims [0] : tensor<4xf32> -> tensor<f32> loc(fused<#tg.facts<forward>>["l"])
  %g = arith.mulf %x, %x : tensor<4xf32> loc(fused<#tg.facts<backward, unit = "h.1", of = "w", as = gradient>>["g"])
  %n = arith.subf %w, %g : tensor<4xf32> loc(fused<#tg.facts<update, unit = "h.0", of = "w", as = parameter>>["n"])
  return %l, %n : tensor<f32>, tensor<4xf32>
}

// -----

// Each tensor that an op makes has facts of its own.  Here one is the gradient, and the other
// what backward passes on.
func.func @lists(%x: tensor<4x2xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %r: tensor<4xf32> {tg.input = "r"}, %w: tensor<2xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<2xf32> {tg.updates = "w"}) {
  %l = tg.reduce sum %x dims [0, 1] : tensor<4x2xf32> -> tensor<f32> loc(fused<#tg.facts<forward>>["l"])
  %dx, %dw = tg.rms_norm_grad %x, %w, %r, %x : (tensor<4x2xf32>, tensor<2xf32>, tensor<4xf32>, tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<2xf32>) loc(fused<[#tg.facts<backward>, #tg.facts<backward, of = "w", as = gradient>]>["g"])
  %n = arith.subf %w, %dw : tensor<2xf32> loc(fused<#tg.facts<update, of = "w", as = parameter>>["n"])
  return %l, %n : tensor<f32>, tensor<2xf32>
}

// -----

// CHECK: error: loc({{.*}}["g"]): 'tg.rms_norm_grad' op makes tensors in backward and in update by its facts; only an action, which is made of several ops, may have two phases
func.func @mixed(%x: tensor<4x2xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %r: tensor<4xf32> {tg.input = "r"}, %w: tensor<2xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<2xf32> {tg.updates = "w"}) {
  %l = tg.reduce sum %x dims [0, 1] : tensor<4x2xf32> -> tensor<f32> loc(fused<#tg.facts<forward>>["l"])
  %dx, %dw = tg.rms_norm_grad %x, %w, %r, %x : (tensor<4x2xf32>, tensor<2xf32>, tensor<4xf32>, tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<2xf32>) loc(fused<[#tg.facts<backward>, #tg.facts<update, of = "w", as = gradient>]>["g"])
  %n = arith.subf %w, %dw : tensor<2xf32> loc(fused<#tg.facts<update, of = "w", as = parameter>>["n"])
  return %l, %n : tensor<f32>, tensor<2xf32>
}

// -----

// CHECK: error: loc({{.*}}["n"]): 'arith.subf' op has no facts of result #0; a list has the facts of each result
func.func @count(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<4xf32> {tg.updates = "w"}) {
  %l = tg.reduce sum %x dims [0] : tensor<4xf32> -> tensor<f32> loc(fused<#tg.facts<forward>>["l"])
  %g = arith.mulf %x, %x : tensor<4xf32> loc(fused<#tg.facts<backward, of = "w", as = gradient>>["g"])
  %n = arith.subf %w, %g : tensor<4xf32> loc(fused<[#tg.facts<update, of = "w", as = parameter>, #tg.facts<update, of = "w", as = moment>]>["n"])
  return %l, %n : tensor<f32>, tensor<4xf32>
}
