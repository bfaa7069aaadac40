// Matmuls with a bias gradient that the verifier rejects.
// RUN: braid-opt %s --split-input-file --verify-diagnostics

func.func @one_result(%x: tensor<4x8xf32>, %dy: tensor<4x16xf32>) {
  // expected-error @below {{has 1 results and 0 outs: it needs two results (on values) or as many outs (in memory)}}
  %dw = exec.matmul "bd,bf->fd"(%x, %dy) bias_grad rhs : tensor<4x8xf32>, tensor<4x16xf32> -> tensor<16x8xf32>
  return
}

// -----

func.func @of_the_other(%x: tensor<4x8xf32>, %dy: tensor<4x16xf32>) {
  // expected-error @below {{writes 'tensor<16xf32>' as the gradient of a bias but its operands make 'tensor<8xf32>'}}
  %dw, %db = exec.matmul "bd,bf->fd"(%x, %dy) bias_grad lhs : tensor<4x8xf32>, tensor<4x16xf32> -> tensor<16x8xf32>, tensor<16xf32>
  return
}

// -----

func.func @of_another_type(%x: tensor<4x8xbf16>, %dy: tensor<4x16xbf16>) {
  // expected-error @below {{writes 'tensor<16xbf16>' as the gradient of a bias but its operands make 'tensor<16xf32>'}}
  %dw, %db = exec.matmul "bd,bf->fd"(%x, %dy) bias_grad rhs : tensor<4x8xbf16>, tensor<4x16xbf16> -> tensor<16x8xf32>, tensor<16xbf16>
  return
}

// -----

func.func @batch(%x: tensor<2x4x8xf32>, %dy: tensor<2x4x16xf32>) {
  // expected-error @below {{has bias_grad of 'ebf', but 'e' of "ebd,ebf->efd" is in both operands and the result}}
  %dw, %db = exec.matmul "ebd,ebf->efd"(%x, %dy) bias_grad rhs : tensor<2x4x8xf32>, tensor<2x4x16xf32> -> tensor<2x16x8xf32>, tensor<16xf32>
  return
}

// -----

func.func @two_dims(%x: tensor<4x8xf32>, %dy: tensor<4x2x16xf32>) {
  // expected-error @below {{has bias_grad of 'bhf', of which "bd,bhf->hfd" keeps 2 dims; the sum must have one}}
  %dw, %db = exec.matmul "bd,bhf->hfd"(%x, %dy) bias_grad rhs : tensor<4x8xf32>, tensor<4x2x16xf32> -> tensor<2x16x8xf32>, tensor<32xf32>
  return
}

// -----

func.func @with_a_bias(%x: tensor<4x8xf32>, %dy: tensor<4x16xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{has bias_grad with a bias or an epilogue, which no library combines}}
  %dw, %db = exec.matmul "bd,bf->fd"(%x, %dy bias %b : tensor<8xf32>) bias_grad rhs : tensor<4x8xf32>, tensor<4x16xf32> -> tensor<16x8xf32>, tensor<16xf32>
  return
}
