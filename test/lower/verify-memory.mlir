// No tensor lives outside a kernel once memory is planned.
// RUN: braid-opt %s --exec-verify-memory --split-input-file --verify-diagnostics

// expected-error @+1 {{remains after memory was planned, but has a tensor outside of a kernel}}
func.func @left(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// The states belong to parameters that lie in memory, too.
// expected-error @below {{state "w.exp_avg" is the moment of "w", which is not a parameter}}
module {
  exec.tensor @w.exp_avg at 0 bytes 16 category optimizer_state : tensor<4xf32> = #tg.state<"w.exp_avg", #tg.init<zeros>, of = "w", kind = moment>
}
