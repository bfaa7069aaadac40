// What is added to a product: what the verifier refuses.
// RUN: braid-opt %s --split-input-file --verify-diagnostics

func.func @another_type(%x: tensor<4x8xbf16>, %w: tensor<16x8xbf16>, %r: tensor<4x16xf32>) {
  // expected-error @below {{addend is 'tensor<4x16xf32>' but the result is 'tensor<4x16xbf16>'}}
  %y = exec.matmul "bd,fd->bf"(%x, %w addend %r : tensor<4x16xf32>) : tensor<4x8xbf16>, tensor<16x8xbf16> -> tensor<4x16xbf16>
  return
}

// -----

func.func @another_shape(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %r: tensor<16xf32>) {
  // expected-error @below {{addend is 'tensor<16xf32>' but the result is 'tensor<4x16xf32>'}}
  %y = exec.matmul "bd,fd->bf"(%x, %w addend %r : tensor<16xf32>) : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x16xf32>
  return
}

// -----

func.func @accumulates(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %r: tensor<4x16xf32>) {
  // expected-error @below {{has an addend with an accumulator; an addend can only be combined with a bias}}
  %y = exec.matmul "bd,fd->bf"(%x, %w acc %r : tensor<4x16xf32> addend %r : tensor<4x16xf32>) : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x16xf32>
  return
}

// -----

func.func @activates(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %b: tensor<16xf32>, %r: tensor<4x16xf32>) {
  // expected-error @below {{has an addend with an epilogue; an addend can only be combined with a bias}}
  %y = exec.matmul "bd,fd->bf"(%x, %w bias %b : tensor<16xf32> addend %r : tensor<4x16xf32>) epilogue gelu_tanh : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x16xf32>
  return
}

// -----

func.func @keeps(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %r: tensor<4x16xf32>) {
  // expected-error @below {{keeps the input of epilogue none; only the input of gelu_tanh can be kept}}
  %y:2 = exec.matmul "bd,fd->bf"(%x, %w addend %r : tensor<4x16xf32>) : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x16xf32>, tensor<4x16xf32>
  return
}

// -----

func.func @sums(%x: tensor<4x8xf32>, %dy: tensor<4x16xf32>, %r: tensor<16x8xf32>) {
  // expected-error @below {{has an addend with an epilogue; an addend can only be combined with a bias}}
  %dw, %db = exec.matmul "bd,bf->fd"(%x, %dy addend %r : tensor<16x8xf32>) bias_grad rhs : tensor<4x8xf32>, tensor<4x16xf32> -> tensor<16x8xf32>, tensor<16xf32>
  return
}
