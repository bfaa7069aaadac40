// What has no kernel.
// RUN: braid-opt %s --exec-form-kernels --split-input-file --verify-diagnostics

func.func @composite(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{no kernel computes tg.softmax; decompose it or select it as a call first}}
  %y = tg.softmax %x : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @table(%x: tensor<80xf32>) -> tensor<80xf32> {
  // expected-error @+1 {{dense constant of type 'tensor<80xf32>' is too large for the code of a kernel; pass it as an input}}
  %c = arith.constant dense<"0x0000803F000000400000404000008040000000000000803F000000400000404000008040000000000000803F000000400000404000008040000000000000803F000000400000404000008040000000000000803F000000400000404000008040000000000000803F000000400000404000008040000000000000803F000000400000404000008040000000000000803F000000400000404000008040000000000000803F000000400000404000008040000000000000803F000000400000404000008040000000000000803F000000400000404000008040000000000000803F000000400000404000008040000000000000803F000000400000404000008040000000000000803F000000400000404000008040000000000000803F000000400000404000008040000000000000803F00000040000040400000804000000000"> : tensor<80xf32>
  %y = arith.addf %x, %c : tensor<80xf32>
  return %y : tensor<80xf32>
}

// -----

func.func @hook(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{no kernel computes tg.hook; decompose it or select it as a call first}}
  %y = tg.hook %x "y" order 0 : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
