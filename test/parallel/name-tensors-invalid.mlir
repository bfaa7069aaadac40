// RUN: braid-opt %s --split-input-file --verify-diagnostics

comm.mesh @mesh [dp = 2]
func.func @place(%x: tensor<4xf32>) -> tensor<4xf32> attributes {comm.program = #comm.program<@mesh>} {
  // expected-error @below {{has 'comm.tensors', which belongs on a collective}}
  %y = math.sin %x {comm.tensors = ["x"]} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

comm.mesh @mesh [dp = 2]
func.func @number(%x: tensor<4xf32>) -> tensor<4xf32> attributes {comm.program = #comm.program<@mesh>} {
  // expected-error @below {{'comm.tensors' has 2 names for the 1 tensors that are sent}}
  %y = comm.all_reduce sum %x over @mesh {dp} {comm.tensors = ["a", "b"]} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

comm.mesh @mesh [dp = 2]
func.func @text(%x: tensor<4xf32>) -> tensor<4xf32> attributes {comm.program = #comm.program<@mesh>} {
  // expected-error @below {{'comm.tensors' is a list of names, found 7}}
  %y = comm.all_reduce sum %x over @mesh {dp} {comm.tensors = 7} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
