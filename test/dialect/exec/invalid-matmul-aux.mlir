// The input of GELU, kept or read: what the verifier refuses.
// RUN: braid-opt %s --split-input-file --verify-diagnostics

func.func @keeps(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) {
  // expected-error @below {{keeps the input of epilogue silu; only the input of gelu_tanh can be kept}}
  %y:2 = exec.matmul "bd,df->bf"(%x, %w) epilogue silu : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>, tensor<4x16xf32>
  return
}

// -----

func.func @keeps_another_type(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) {
  // expected-error @below {{keeps 'tensor<16x4xf32>' but the result is 'tensor<4x16xf32>'}}
  %y:2 = exec.matmul "bd,df->bf"(%x, %w) epilogue gelu_tanh : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>, tensor<16x4xf32>
  return
}

// -----

func.func @three(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) {
  // expected-error @below {{has 3 results and 0 outs: it needs one result (on values) or as many outs (in memory)}}
  %y:3 = exec.matmul "bd,df->bf"(%x, %w) epilogue gelu_tanh : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>
  return
}

// -----

func.func @without(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) {
  // expected-error @below {{needs 'aux', the input of the gelu_tanh whose gradient it computes}}
  %y = exec.matmul "bd,df->bf"(%x, %w) epilogue gelu_tanh_grad : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
  return
}

// -----

func.func @unread(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %h: tensor<4x16xf32>) {
  // expected-error @below {{has 'aux', which only epilogue gelu_tanh_grad reads}}
  %y = exec.matmul "bd,df->bf"(%x, %w aux %h : tensor<4x16xf32>) : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
  return
}

// -----

func.func @another_type(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %h: tensor<4x8xf32>) {
  // expected-error @below {{aux is 'tensor<4x8xf32>' but the result is 'tensor<4x16xf32>'}}
  %y = exec.matmul "bd,df->bf"(%x, %w aux %h : tensor<4x8xf32>) epilogue gelu_tanh_grad : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
  return
}

// -----

func.func @biased(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %b: tensor<16xf32>, %h: tensor<4x16xf32>) {
  // expected-error @below {{has epilogue gelu_tanh_grad with a bias or an accumulator, which no library combines}}
  %y = exec.matmul "bd,df->bf"(%x, %w bias %b : tensor<16xf32> aux %h : tensor<4x16xf32>) epilogue gelu_tanh_grad : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
  return
}
