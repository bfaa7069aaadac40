// The attribute that reports read.
// RUN: braid-opt %s --split-input-file --verify-diagnostics

comm.mesh @mesh [dp = 2]
func.func @keys(%x: tensor<8xf32>) -> tensor<8xf32> attributes {comm.program = #comm.program<@mesh>} {
  // expected-error @below {{'comm.timing' is {predicted_s = <f64>, exposed_s = <f64>, waits_for = <string>}, found {predicted_s = 1.000000e+00 : f64}}}
  %r = comm.all_reduce sum %x over @mesh {dp} {comm.timing = {predicted_s = 1.0 : f64}} : (tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

func.func @place(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{has 'comm.timing', which belongs on a collective, a comm.copy, a comm.start or a program}}
  %r = arith.addf %x, %x {comm.timing = {predicted_s = 1.0 : f64, exposed_s = 0.0 : f64, waits_for = ""}} : tensor<8xf32>
  return %r : tensor<8xf32>
}
