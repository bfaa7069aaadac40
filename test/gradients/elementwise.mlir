// The gradient of every elementwise op agrees with central differences.
//
// Each function weighs its results with fixed numbers, so that every element of
// the gradient is different.  Operands of logarithms and roots are 0.5 + x*x.
//
// RUN: braid-interp %s --check-gradients

func.func @negf(%x: tensor<5xf64> {tg.input = "x", tg.grad}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = arith.negf %x : tensor<5xf64>
  %w = arith.constant dense<[0.5, -1.0, 1.5, 2.0, -0.75]> : tensor<5xf64>
  %z = arith.mulf %y, %w : tensor<5xf64>
  %loss = tg.reduce sum %z dims [0] : tensor<5xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @exp(%x: tensor<5xf64> {tg.input = "x", tg.grad}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = math.exp %x : tensor<5xf64>
  %w = arith.constant dense<[0.5, -1.0, 1.5, 2.0, -0.75]> : tensor<5xf64>
  %z = arith.mulf %y, %w : tensor<5xf64>
  %loss = tg.reduce sum %z dims [0] : tensor<5xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @exp2(%x: tensor<5xf64> {tg.input = "x", tg.grad}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = math.exp2 %x : tensor<5xf64>
  %w = arith.constant dense<[0.5, -1.0, 1.5, 2.0, -0.75]> : tensor<5xf64>
  %z = arith.mulf %y, %w : tensor<5xf64>
  %loss = tg.reduce sum %z dims [0] : tensor<5xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @expm1(%x: tensor<5xf64> {tg.input = "x", tg.grad}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = math.expm1 %x : tensor<5xf64>
  %w = arith.constant dense<[0.5, -1.0, 1.5, 2.0, -0.75]> : tensor<5xf64>
  %z = arith.mulf %y, %w : tensor<5xf64>
  %loss = tg.reduce sum %z dims [0] : tensor<5xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @log(%x: tensor<5xf64> {tg.input = "x", tg.grad}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %hp = arith.constant dense<0.5> : tensor<5xf64>
  %sp = arith.mulf %x, %x : tensor<5xf64>
  %p = arith.addf %sp, %hp : tensor<5xf64>
  %y = math.log %p : tensor<5xf64>
  %w = arith.constant dense<[0.5, -1.0, 1.5, 2.0, -0.75]> : tensor<5xf64>
  %z = arith.mulf %y, %w : tensor<5xf64>
  %loss = tg.reduce sum %z dims [0] : tensor<5xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @log1p(%x: tensor<5xf64> {tg.input = "x", tg.grad}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %hp = arith.constant dense<0.5> : tensor<5xf64>
  %sp = arith.mulf %x, %x : tensor<5xf64>
  %p = arith.addf %sp, %hp : tensor<5xf64>
  %y = math.log1p %p : tensor<5xf64>
  %w = arith.constant dense<[0.5, -1.0, 1.5, 2.0, -0.75]> : tensor<5xf64>
  %z = arith.mulf %y, %w : tensor<5xf64>
  %loss = tg.reduce sum %z dims [0] : tensor<5xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @tanh(%x: tensor<5xf64> {tg.input = "x", tg.grad}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = math.tanh %x : tensor<5xf64>
  %w = arith.constant dense<[0.5, -1.0, 1.5, 2.0, -0.75]> : tensor<5xf64>
  %z = arith.mulf %y, %w : tensor<5xf64>
  %loss = tg.reduce sum %z dims [0] : tensor<5xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @sqrt(%x: tensor<5xf64> {tg.input = "x", tg.grad}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %hp = arith.constant dense<0.5> : tensor<5xf64>
  %sp = arith.mulf %x, %x : tensor<5xf64>
  %p = arith.addf %sp, %hp : tensor<5xf64>
  %y = math.sqrt %p : tensor<5xf64>
  %w = arith.constant dense<[0.5, -1.0, 1.5, 2.0, -0.75]> : tensor<5xf64>
  %z = arith.mulf %y, %w : tensor<5xf64>
  %loss = tg.reduce sum %z dims [0] : tensor<5xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @rsqrt(%x: tensor<5xf64> {tg.input = "x", tg.grad}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %hp = arith.constant dense<0.5> : tensor<5xf64>
  %sp = arith.mulf %x, %x : tensor<5xf64>
  %p = arith.addf %sp, %hp : tensor<5xf64>
  %y = math.rsqrt %p : tensor<5xf64>
  %w = arith.constant dense<[0.5, -1.0, 1.5, 2.0, -0.75]> : tensor<5xf64>
  %z = arith.mulf %y, %w : tensor<5xf64>
  %loss = tg.reduce sum %z dims [0] : tensor<5xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @erf(%x: tensor<5xf64> {tg.input = "x", tg.grad}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = math.erf %x : tensor<5xf64>
  %w = arith.constant dense<[0.5, -1.0, 1.5, 2.0, -0.75]> : tensor<5xf64>
  %z = arith.mulf %y, %w : tensor<5xf64>
  %loss = tg.reduce sum %z dims [0] : tensor<5xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @sin(%x: tensor<5xf64> {tg.input = "x", tg.grad}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = math.sin %x : tensor<5xf64>
  %w = arith.constant dense<[0.5, -1.0, 1.5, 2.0, -0.75]> : tensor<5xf64>
  %z = arith.mulf %y, %w : tensor<5xf64>
  %loss = tg.reduce sum %z dims [0] : tensor<5xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @cos(%x: tensor<5xf64> {tg.input = "x", tg.grad}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = math.cos %x : tensor<5xf64>
  %w = arith.constant dense<[0.5, -1.0, 1.5, 2.0, -0.75]> : tensor<5xf64>
  %z = arith.mulf %y, %w : tensor<5xf64>
  %loss = tg.reduce sum %z dims [0] : tensor<5xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @absf(%x: tensor<5xf64> {tg.input = "x", tg.grad}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = math.absf %x : tensor<5xf64>
  %w = arith.constant dense<[0.5, -1.0, 1.5, 2.0, -0.75]> : tensor<5xf64>
  %z = arith.mulf %y, %w : tensor<5xf64>
  %loss = tg.reduce sum %z dims [0] : tensor<5xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @addf(%a: tensor<5xf64> {tg.input = "a", tg.grad}, %b: tensor<5xf64> {tg.input = "b", tg.grad}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = arith.addf %a, %b : tensor<5xf64>
  %w = arith.constant dense<[0.5, -1.0, 1.5, 2.0, -0.75]> : tensor<5xf64>
  %z = arith.mulf %y, %w : tensor<5xf64>
  %loss = tg.reduce sum %z dims [0] : tensor<5xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @subf(%a: tensor<5xf64> {tg.input = "a", tg.grad}, %b: tensor<5xf64> {tg.input = "b", tg.grad}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = arith.subf %a, %b : tensor<5xf64>
  %w = arith.constant dense<[0.5, -1.0, 1.5, 2.0, -0.75]> : tensor<5xf64>
  %z = arith.mulf %y, %w : tensor<5xf64>
  %loss = tg.reduce sum %z dims [0] : tensor<5xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @mulf(%a: tensor<5xf64> {tg.input = "a", tg.grad}, %b: tensor<5xf64> {tg.input = "b", tg.grad}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = arith.mulf %a, %b : tensor<5xf64>
  %w = arith.constant dense<[0.5, -1.0, 1.5, 2.0, -0.75]> : tensor<5xf64>
  %z = arith.mulf %y, %w : tensor<5xf64>
  %loss = tg.reduce sum %z dims [0] : tensor<5xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @maximumf(%a: tensor<5xf64> {tg.input = "a", tg.grad}, %b: tensor<5xf64> {tg.input = "b", tg.grad}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = arith.maximumf %a, %b : tensor<5xf64>
  %w = arith.constant dense<[0.5, -1.0, 1.5, 2.0, -0.75]> : tensor<5xf64>
  %z = arith.mulf %y, %w : tensor<5xf64>
  %loss = tg.reduce sum %z dims [0] : tensor<5xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @minimumf(%a: tensor<5xf64> {tg.input = "a", tg.grad}, %b: tensor<5xf64> {tg.input = "b", tg.grad}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = arith.minimumf %a, %b : tensor<5xf64>
  %w = arith.constant dense<[0.5, -1.0, 1.5, 2.0, -0.75]> : tensor<5xf64>
  %z = arith.mulf %y, %w : tensor<5xf64>
  %loss = tg.reduce sum %z dims [0] : tensor<5xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @divf(%a: tensor<5xf64> {tg.input = "a", tg.grad}, %b: tensor<5xf64> {tg.input = "b", tg.grad}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %hp = arith.constant dense<0.5> : tensor<5xf64>
  %sp = arith.mulf %b, %b : tensor<5xf64>
  %p = arith.addf %sp, %hp : tensor<5xf64>
  %y = arith.divf %a, %p : tensor<5xf64>
  %w = arith.constant dense<[0.5, -1.0, 1.5, 2.0, -0.75]> : tensor<5xf64>
  %z = arith.mulf %y, %w : tensor<5xf64>
  %loss = tg.reduce sum %z dims [0] : tensor<5xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @powf(%a: tensor<5xf64> {tg.input = "a", tg.grad}, %b: tensor<5xf64> {tg.input = "b", tg.grad}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %hp = arith.constant dense<0.5> : tensor<5xf64>
  %sp = arith.mulf %a, %a : tensor<5xf64>
  %p = arith.addf %sp, %hp : tensor<5xf64>
  %y = math.powf %p, %b : tensor<5xf64>
  %w = arith.constant dense<[0.5, -1.0, 1.5, 2.0, -0.75]> : tensor<5xf64>
  %z = arith.mulf %y, %w : tensor<5xf64>
  %loss = tg.reduce sum %z dims [0] : tensor<5xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @fma(%a: tensor<5xf64> {tg.input = "a", tg.grad}, %b: tensor<5xf64> {tg.input = "b", tg.grad}, %c: tensor<5xf64> {tg.input = "c", tg.grad}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = math.fma %a, %b, %c : tensor<5xf64>
  %w = arith.constant dense<[0.5, -1.0, 1.5, 2.0, -0.75]> : tensor<5xf64>
  %z = arith.mulf %y, %w : tensor<5xf64>
  %loss = tg.reduce sum %z dims [0] : tensor<5xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @select(%a: tensor<5xf64> {tg.input = "a", tg.grad}, %b: tensor<5xf64> {tg.input = "b", tg.grad}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %c = arith.constant dense<[true, false, false, true, true]> : tensor<5xi1>
  %y = arith.select %c, %a, %b : tensor<5xi1>, tensor<5xf64>
  %w = arith.constant dense<[0.5, -1.0, 1.5, 2.0, -0.75]> : tensor<5xf64>
  %z = arith.mulf %y, %w : tensor<5xf64>
  %loss = tg.reduce sum %z dims [0] : tensor<5xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

// The condition depends on the operand but is a choice: its derivative is zero.
func.func @relu(%x: tensor<5xf64> {tg.input = "x", tg.grad}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %zero = arith.constant dense<0.0> : tensor<5xf64>
  %c = arith.cmpf ogt, %x, %zero : tensor<5xf64>
  %y = arith.select %c, %x, %zero : tensor<5xi1>, tensor<5xf64>
  %w = arith.constant dense<[0.5, -1.0, 1.5, 2.0, -0.75]> : tensor<5xf64>
  %z = arith.mulf %y, %w : tensor<5xf64>
  %loss = tg.reduce sum %z dims [0] : tensor<5xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

// A value with many uses: contributions add up.
func.func @shared(%x: tensor<5xf64> {tg.input = "x", tg.grad}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %a = math.sin %x : tensor<5xf64>
  %b = arith.mulf %a, %x : tensor<5xf64>
  %c = arith.addf %b, %a : tensor<5xf64>
  %y = arith.mulf %c, %b : tensor<5xf64>
  %w = arith.constant dense<[0.5, -1.0, 1.5, 2.0, -0.75]> : tensor<5xf64>
  %z = arith.mulf %y, %w : tensor<5xf64>
  %loss = tg.reduce sum %z dims [0] : tensor<5xf64> -> tensor<f64>
  return %loss : tensor<f64>
}
