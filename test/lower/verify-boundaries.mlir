// What the two boundaries forbid.
// RUN: braid-opt %s --exec-verify-values --split-input-file --verify-diagnostics

func.func @left(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{remains after kernels were formed; expected only actions and views}}
  %y = arith.addf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{state "w.exp_avg" is the moment of "w", which is not a parameter}}
func.func @moment(%m: tensor<4xf32> {tg.state = #tg.state<"w.exp_avg", #tg.init<zeros>, of = "w", kind = moment>}) {
  return
}
