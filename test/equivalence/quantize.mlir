// Numbers in 8 bits, as the interpreter computes them from their definition, and in primitives,
// whose constants are f32.
//
// RUN: braid-interp %s --compare --pipeline=tg-decompose,tg-verify-primitives --rtol=1e-6 --seeds=5

// Codes of zeros, of both signs, of numbers that are far apart, and of the largest.
func.func @quantize(%x: tensor<3x8xf32>, %u: tensor<3x8xf32>) -> (tensor<3x8xi8>, tensor<3x2xf32>) {
  %floor = math.floor %u : tensor<3x8xf32>
  %t = arith.subf %u, %floor : tensor<3x8xf32>
  %codes, %scales = tg.quantize %x at %t block 4 : (tensor<3x8xf32>, tensor<3x8xf32>) -> (tensor<3x8xi8>, tensor<3x2xf32>)
  return %codes, %scales : tensor<3x8xi8>, tensor<3x2xf32>
}

func.func @quantize_far() -> (tensor<12xi8>, tensor<3xf32>) {
  %x = arith.constant dense<[0.0, -0.0, 1.0, -1.0e-30, 0.0, 0.0, 0.0, 0.0, 2.0, -2.0, 1.0e-3, -2.0e-8]> : tensor<12xf32>
  %t = arith.constant dense<[0.0, 0.5, 0.9, 0.9, 0.0, 0.1, 0.2, 0.3, 0.99, 0.0, 0.5, 0.5]> : tensor<12xf32>
  %codes, %scales = tg.quantize %x at %t block 4 : (tensor<12xf32>, tensor<12xf32>) -> (tensor<12xi8>, tensor<3xf32>)
  return %codes, %scales : tensor<12xi8>, tensor<3xf32>
}

func.func @dequantize(%x: tensor<3x8xf32>, %s: tensor<3x2xf32>) -> tensor<3x8xf32> {
  %hundred = arith.constant dense<100.0> : tensor<3x8xf32>
  %wide = arith.mulf %x, %hundred : tensor<3x8xf32>
  %low = arith.constant dense<-127.0> : tensor<3x8xf32>
  %high = arith.constant dense<127.0> : tensor<3x8xf32>
  %above = arith.maximumf %wide, %low : tensor<3x8xf32>
  %within = arith.minimumf %above, %high : tensor<3x8xf32>
  %codes = tg.convert %within : tensor<3x8xf32> -> tensor<3x8xi8>
  %positive = arith.mulf %s, %s : tensor<3x2xf32>
  %y = tg.dequantize %codes, %positive : (tensor<3x8xi8>, tensor<3x2xf32>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}
