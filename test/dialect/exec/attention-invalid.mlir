// RUN: braid-opt %s --split-input-file --verify-diagnostics

func.func @narrow_lse(%q: tensor<2x8x4x8xbf16>) {
  // expected-error @below {{result 1 is 'tensor<2x4x8xbf16>' but must be 'tensor<2x4x8xf32>'}}
  %o, %lse = exec.attention(%q, %q, %q) scale 1.0
      : (tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>) -> tensor<2x8x4x8xbf16>, tensor<2x4x8xbf16>
  return
}

// -----

func.func @heads(%q: tensor<2x8x4x8xbf16>, %k: tensor<2x8x3x8xbf16>) {
  // expected-error @below {{the 3 heads of the key do not divide the 4 of the query}}
  %o, %lse = exec.attention(%q, %k, %k) scale 1.0
      : (tensor<2x8x4x8xbf16>, tensor<2x8x3x8xbf16>, tensor<2x8x3x8xbf16>) -> tensor<2x8x4x8xbf16>, tensor<2x4x8xf32>
  return
}

// -----

func.func @lengths(%q: tensor<2x8x4x8xbf16>, %k: tensor<2x6x4x8xbf16>) {
  // expected-error @below {{is causal, but the query has 8 positions and the key 6; give the position of the first query as an offset}}
  %o, %lse = exec.attention(%q, %k, %k) scale 1.0 causal
      : (tensor<2x8x4x8xbf16>, tensor<2x6x4x8xbf16>, tensor<2x6x4x8xbf16>) -> tensor<2x8x4x8xbf16>, tensor<2x4x8xf32>
  return
}

// -----

func.func @documents(%q: tensor<2x8x4x8xbf16>, %documents: tensor<8x2xi32>) {
  // expected-error @below {{has documents of type tensor<8x2xi32>, but needs a number for each key, tensor<2x8xi32>}}
  %o, %lse = exec.attention(%q, %q, %q documents %documents : tensor<8x2xi32>) scale 1.0
      : (tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>) -> tensor<2x8x4x8xbf16>, tensor<2x4x8xf32>
  return
}

// -----

func.func @softcap(%q: tensor<2x8x4x8xbf16>) {
  // expected-error @below {{is soft-capped at -2.000000e+00, which must be a finite number above 0}}
  %o, %lse = exec.attention(%q, %q, %q) scale 1.0 softcap -2.0
      : (tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>) -> tensor<2x8x4x8xbf16>, tensor<2x4x8xf32>
  return
}

// -----

func.func @sizes(%q: tensor<2x8x4x8xbf16>, %k: tensor<2x8x4x16xbf16>) {
  // expected-error @below {{must agree in batch, head size and element type}}
  %o, %lse = exec.attention(%q, %k, %k) scale 1.0
      : (tensor<2x8x4x8xbf16>, tensor<2x8x4x16xbf16>, tensor<2x8x4x16xbf16>) -> tensor<2x8x4x8xbf16>, tensor<2x4x8xf32>
  return
}

// -----

func.func @results(%q: tensor<2x8x4x8xbf16>) {
  // expected-error @below {{has 1 results and 0 outs: it needs 2 results (on values) or outs (in memory)}}
  %o = exec.attention(%q, %q, %q) scale 1.0
      : (tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>) -> tensor<2x8x4x8xbf16>
  return
}

// -----

func.func @gradient(%q: tensor<2x8x4x8xbf16>, %lse: tensor<2x8x4xf32>) {
  // expected-error @below {{lse is 'tensor<2x8x4xf32>' but must be 'tensor<2x4x8xf32>'}}
  %d:3 = exec.attention_grad(%q, %q, %q, %q, %lse, %q) scale 1.0
      : (tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x8x4xf32>, tensor<2x8x4x8xbf16>)
      -> tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>
  return
}

// -----

func.func @order(%q: tensor<2x8x4x8xbf16>, %lse: tensor<2x4x8xf32>) {
  // expected-error @below {{is computed by tiles, which sum in a fixed order, but has order 'any'}}
  %d:3 = exec.attention_grad(%q, %q, %q, %q, %lse, %q) scale 1.0 tiles order any
      : (tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x4x8xf32>, tensor<2x8x4x8xbf16>)
      -> tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>
  return
}

// -----

func.func @positions(%q: tensor<2x8x4x8xbf16>, %first: tensor<i32>) {
  // expected-error @below {{has query positions that are known only at run time, which only tiles support}}
  %o, %lse = exec.attention(%q, %q, %q at %first, %first : tensor<i32>, tensor<i32>) scale 1.0 causal
      : (tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>) -> tensor<2x8x4x8xbf16>, tensor<2x4x8xf32>
  return
}

// -----

func.func @position_type(%q: tensor<2x8x4x8xbf16>, %first: tensor<2xi32>) {
  // expected-error @below {{a position is 'tensor<2xi32>' but must be tensor<i32>}}
  %o, %lse = exec.attention(%q, %q, %q at %first, %first : tensor<2xi32>, tensor<2xi32>) scale 1.0 causal tiles
      : (tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>) -> tensor<2x8x4x8xbf16>, tensor<2x4x8xf32>
  return
}
