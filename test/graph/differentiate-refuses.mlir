// RUN: braid-opt %s --tg-differentiate --split-input-file --verify-diagnostics

// The path from the root to the parameter, op by op.
// expected-note @below {{to argument 'w'}}
func.func @no_rule(%w: tensor<3xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  // expected-note @below {{on the way from the root: 'math.exp'}}
  %e = math.exp %w : tensor<3xf32>
  // expected-error @below {{'math.floor' op has neither a gradient nor a decomposition, but a gradient must flow through it to 'w'; put tg.stop_gradient before it, or freeze the parameter}}
  // expected-note @below {{on the way from the root: 'math.floor'}}
  %f = math.floor %e : tensor<3xf32>
  // expected-note @below {{on the way from the root: 'arith.mulf'}}
  %y = arith.mulf %f, %f : tensor<3xf32>
  // expected-note @below {{on the way from the root: 'tg.reduce'}}
  %loss = tg.reduce sum %y dims [0] : tensor<3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// expected-note @below {{to argument 'x'}}
func.func @integers(%x: tensor<f32> {tg.input = "x", tg.grad}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  // expected-note @below {{'tg.convert'}}
  %i = tg.convert %x : tensor<f32> -> tensor<i32>
  // expected-error @below {{'tg.convert' op has integer operands, but a gradient must flow through it to 'x'}}
  // expected-note @below {{'tg.convert'}}
  %y = tg.convert %i : tensor<i32> -> tensor<f32>
  return %y : tensor<f32>
}

// -----

// expected-error @below {{result #0 is 'tensor<2x3xf32>', not a scalar; give its gradient as an argument of that type with tg.seed = 0, or reduce it}}
func.func @shape(%x: tensor<2x3xf32> {tg.input = "x", tg.grad}) -> (tensor<2x3xf32> {tg.role = #tg.role<loss>}) {
  return %x : tensor<2x3xf32>
}

// -----

// expected-error @below {{argument #0: tg.grad requests a gradient of 'tokens', but 'tensor<3xi32>' is not floating-point; drop tg.grad or freeze the parameter}}
func.func @integer_input(%x: tensor<3xi32> {tg.input = "tokens", tg.grad}, %y: tensor<f32>) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  return %y : tensor<f32>
}

// -----

// expected-error @below {{result #0 is 'tensor<i32>', which has no gradient; a root must be floating-point}}
func.func @integer_root(%x: tensor<i32>) -> (tensor<i32> {tg.role = #tg.role<loss>}) {
  return %x : tensor<i32>
}

// -----

// expected-error @below {{argument #1: tg.seed is 'tensor<2xf32>' but result #0 is 'tensor<3xf32>'}}
func.func @seed_shape(%x: tensor<3xf32> {tg.input = "x", tg.grad}, %g: tensor<2xf32> {tg.seed = 0 : i64}) -> (tensor<3xf32> {tg.role = #tg.role<loss>}) {
  return %x : tensor<3xf32>
}

// -----

// expected-error @below {{argument #1: tg.seed names result #1, which is not a root}}
func.func @seed_of_nothing(%x: tensor<f32> {tg.input = "x", tg.grad}, %g: tensor<f32> {tg.seed = 1 : i64}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  return %x : tensor<f32>
}

// -----

// expected-error @below {{argument #2: result #0 has two arguments with tg.seed}}
func.func @two_seeds(%x: tensor<f32> {tg.input = "x", tg.grad}, %g: tensor<f32> {tg.seed = 0 : i64}, %h: tensor<f32> {tg.seed = 0 : i64})
    -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  return %x : tensor<f32>
}
