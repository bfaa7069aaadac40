// RUN: braid-opt %s --split-input-file --verify-diagnostics

comm.mesh @mesh [dp = 2]
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'comm.unit' is a string on a collective, found "1"}}
  %y = arith.addf %x, %x {comm.unit = "1"} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

comm.mesh @mesh [dp = 2]
func.func @f(%x: tensor<4xf32>) -> tensor<8xf32> attributes {comm.program = #comm.program<@mesh>} {
  // expected-error @below {{'comm.unit' is a string on a collective, found 1}}
  %y = comm.all_gather %x dims [0] over @mesh {dp} {comm.unit = 1} : (tensor<4xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
