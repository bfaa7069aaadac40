// RUN: braid-opt %s --tg-verify-primitives --split-input-file --verify-diagnostics

func.func @primitives(%x: tensor<3xf32>) -> tensor<f32> {
  %y = math.exp %x : tensor<3xf32>
  %s = tg.reduce sum %y dims [0] : tensor<3xf32> -> tensor<f32>
  return %s : tensor<f32>
}

// -----

func.func @composite(%x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @below {{'tg.silu' op is a composite; run tg-decompose before this boundary}}
  %y = tg.silu %x : tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

func.func @hook(%x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @below {{"h" is still a hook; run tg-remove-hooks before this boundary}}
  %y = tg.hook %x "h" order 0 : tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

func.func @mark(%x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @below {{'tg.stop_gradient' op is a composite; run tg-decompose before this boundary}}
  %y = tg.stop_gradient %x : tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

func.func @foreign(%x: tensor<3xf32>) -> tensor<1x3xf32> {
  // expected-error @below {{'tensor.expand_shape' op does not belong to a training graph of tg, arith, math and func}}
  %y = tensor.expand_shape %x [[0, 1]] output_shape [1, 3] : tensor<3xf32> into tensor<1x3xf32>
  return %y : tensor<1x3xf32>
}

// -----

// expected-error @below {{state "v.exp_avg" is the moment of "v", which is not a parameter}}
func.func @moment(%w: tensor<3xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                  %m: tensor<3xf32> {tg.state = #tg.state<"v.exp_avg", #tg.init<zeros>, of = "v", kind = moment>}) {
  return
}

// -----

// expected-error @below {{state "w.master" is the master of "w", which is not a working copy (copy_of = "w")}}
func.func @master(%w: tensor<3xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                  %m: tensor<3xf32> {tg.state = #tg.state<"w.master", #tg.init<ones>, of = "w", kind = master>}) {
  return
}

// -----

// What belongs to a working copy is named after its master.
func.func @copy(%w: tensor<3xbf16> {tg.param = #tg.param<"w.bf16", #tg.init<ones>, copy_of = "w">},
                %m: tensor<3xf32> {tg.state = #tg.state<"w", #tg.init<ones>, of = "w", kind = master>},
                %v: tensor<3xf32> {tg.state = #tg.state<"w.exp_avg", #tg.init<zeros>, of = "w", kind = moment>}) {
  return
}
