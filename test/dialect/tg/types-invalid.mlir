// Types that are written wrongly: the message has the place of the type, what was found and what to write.
//
// RUN: braid-opt %s --split-input-file --verify-diagnostics

func.func @no_results(%x: tensor<4x8xf32>) {
  // expected-error @below {{'tg.reduce' expected '->' and the types of results, as in TYPE, TYPE -> TYPE}}
  %y = tg.reduce sum %x dims [1] : tensor<4x8xf32>
  return
}

// -----

func.func @too_few(%x: tensor<4x8xf32>) {
  // expected-error @below {{'tg.contract' needs 2 types before '->', one for each operand (lhs, rhs), found 1}}
  %y = tg.contract "bd,fd->bf" %x, %x : tensor<4x8xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @too_many(%x: tensor<4x8xf32>) {
  // expected-error @below {{'tg.reduce' needs 1 type behind '->', one for each result, found 2}}
  %y = tg.reduce sum %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>, tensor<4xf32>
  return
}

// -----

// The operand that is absent has no type.
func.func @of_absent(%x: tensor<2x8xf32>, %w: tensor<8xf32>) {
  // expected-error @below {{'tg.layer_norm' needs 2 types before '->', one for each operand (input, weight), found 3}}
  %y:3 = tg.layer_norm %x, %w eps 1.0e-5 : tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<2x8xf32>, tensor<2xf32>, tensor<2xf32>
  return
}

// -----

func.func @no_new_parameter(%w: tensor<8xf32>, %lr: tensor<f32>) {
  // expected-error @below {{'tg.update' needs 1 or more types behind '->', one for each result, found 0}}
  tg.update "sgd" %w, %w, %lr {weight_decay = 0.0} : tensor<8xf32>, tensor<8xf32>, tensor<f32> -> ()
  return
}

// -----

func.func @two_for_one(%x: tensor<4x8xf32>) {
  // expected-error @below {{'tg.gelu_grad' expected one type, which all operands and results share}}
  %y = tg.gelu_grad tanh %x, %x : tensor<4x8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @different(%x: tensor<4x8xf32>, %y: tensor<4x9xf32>) {
  // expected-error @below {{'tg.gelu_grad' operands and results must have one type, found 'tensor<4x9xf32>' and 'tensor<4x8xf32>'}}
  %z = tg.gelu_grad tanh %x, %y : tensor<4x8xf32>, tensor<4x9xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @scalar(%x: f32) {
  // expected-error @below {{'tg.gelu' operand 'input' has the type 'f32', expected a tensor; a scalar is 'tensor<f32>'}}
  %y = tg.gelu tanh %x : f32
  return
}

// -----

func.func @no_tensor(%x: vector<4xf32>) {
  // expected-error @below {{'tg.gelu' operand 'input' has the type 'vector<4xf32>', which is not a tensor}}
  %y = tg.gelu tanh %x : vector<4xf32>
  return
}

// -----

func.func @scalar_result(%x: tensor<4xf32>) {
  // expected-error @below {{'tg.reduce' result has the type 'f32', expected a tensor; a scalar is 'tensor<f32>'}}
  %y = tg.reduce sum %x dims [0] : tensor<4xf32> -> f32
  return
}

// -----

func.func @dynamic_result(%x: tensor<4xf32>) {
  // expected-error @below {{'tg.broadcast' result has the type 'tensor<?x4xf32>', which has no extent in dim 0; give every extent as a number}}
  %y = tg.broadcast %x dims [1] : tensor<4xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @unranked(%x: tensor<*xf32>) {
  // expected-error @below {{'tg.convert' operand 'input' has the type 'tensor<*xf32>', which has no rank; give every extent as a number}}
  %y = tg.convert %x : tensor<*xf32> -> tensor<*xbf16>
  return
}

// -----

func.func @zero(%x: tensor<4x0xf32>) {
  // expected-error @below {{'tg.gelu' operand 'input' has the type 'tensor<4x0xf32>', which has the extent 0 in dim 1; extents are 1 or more}}
  %y = tg.gelu tanh %x : tensor<4x0xf32>
  return
}

// -----

// Where the type of a variadic operand is, in a line of its own.
func.func @variadic(%p: tensor<2x6x8xf32>, %c: tensor<2x6x2xi32>) {
  %y = tg.load_balance %p, %p choices %c, %c
  // expected-error @below {{'tg.load_balance' operand 'chosen' has the type 'tensor<2x6x8xf32>', expected a tensor of i32 or i64; tg.convert changes element types}}
      : (tensor<2x6x8xf32>, tensor<2x6x8xf32>, tensor<2x6x2xi32>, tensor<2x6x8xf32>) -> tensor<f32>
  return
}

// -----

func.func @result(%x: tensor<2x4xbf16>, %w: tensor<3x4xbf16>) {
  // expected-error @below {{'tg.contract' op makes tensor<2x3xbf16> of (tensor<2x4xbf16>, tensor<3x4xbf16>), found tensor<2x3xf64>: write "-> tensor<2x3xbf16>"}}
  %y = tg.contract "bi,oi->bo" %x, %w : tensor<2x4xbf16>, tensor<3x4xbf16> -> tensor<2x3xf64>
  return
}

// -----

func.func @results(%x: tensor<2x8xf32>, %w: tensor<8xf32>) {
  // expected-error @below {{'tg.rms_norm' op makes (tensor<2x8xf32>, tensor<2xf32>) of (tensor<2x8xf32>, tensor<8xf32>), found (tensor<2x8xf32>, tensor<8xf32>): write "-> (tensor<2x8xf32>, tensor<2xf32>)"}}
  %y:2 = tg.rms_norm %x, %w eps 1.0e-5 : tensor<2x8xf32>, tensor<8xf32> -> tensor<2x8xf32>, tensor<8xf32>
  return
}
