// What emitters read.
// RUN: braid-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{'comm.ctas' is a number of 1 or more on a module, found 0 : i64}}
module attributes {comm.ctas = 0 : i64} {
}

// -----

// expected-error @below {{'comm.ctas' is a number of 1 or more on a module, found 16 : i64}}
func.func private @f() attributes {comm.ctas = 16 : i64}

// -----

func.func @value(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{'comm.beside_collective' is a unit attribute on an action, found true}}
  %y = exec.matmul "mk,kn->mn"(%x, %x) {comm.beside_collective = true} : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// -----

func.func @place(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'comm.beside_collective' is a unit attribute on an action}}
  %y = arith.addf %x, %x {comm.beside_collective} : tensor<8xf32>
  return %y : tensor<8xf32>
}
