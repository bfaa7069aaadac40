// arith and math on corner cases: wrap-around, signs, NaN, rounding.
//
// RUN: braid-interp %s | FileCheck %s

// CHECK-LABEL: @ints
// CHECK: result0: tensor<3xi32> = [-2147483648, 0, -6]
// CHECK: result1: tensor<3xi32> = [1, 1, 225]
// CHECK: result2: tensor<3xi32> = [2147483647, -1, -1]
// CHECK: result3: tensor<3xi32> = [1073741823, -1, -8]
// CHECK: result4: tensor<3xi32> = [1073741823, 2147483647, 2147483640]
func.func @ints() -> (tensor<3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) {
  %a = arith.constant dense<[2147483647, -1, -15]> : tensor<3xi32>
  %b = arith.constant dense<[1, 1, 9]> : tensor<3xi32>
  %one = arith.constant dense<1> : tensor<3xi32>
  %sum = arith.addi %a, %b : tensor<3xi32>
  %square = arith.muli %a, %a : tensor<3xi32>
  %quotient = arith.divsi %a, %b : tensor<3xi32>
  %signed = arith.shrsi %a, %one : tensor<3xi32>
  %unsigned = arith.shrui %a, %one : tensor<3xi32>
  return %sum, %square, %quotient, %signed, %unsigned : tensor<3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>
}

// CHECK-LABEL: @words
// The upper and lower half of a product of words, as Philox takes them.
// CHECK: result0: tensor<2xi32> = [1, -2147483648]
// CHECK: result1: tensor<2xi32> = [-2, 1]
func.func @words() -> (tensor<2xi32>, tensor<2xi32>) {
  %a = arith.constant dense<[-1, -2147483648]> : tensor<2xi32>
  %b = arith.constant dense<[-1, 3]> : tensor<2xi32>
  %low, %high = arith.mului_extended %a, %b : tensor<2xi32>
  return %low, %high : tensor<2xi32>, tensor<2xi32>
}

// CHECK-LABEL: @bools
// CHECK: result0: tensor<2xi32> = [-1, 0]
// CHECK: result1: tensor<2xi32> = [1, 0]
// CHECK: result2: tensor<2xf32> = [1, 0]
// CHECK: result3: tensor<2xi1> = [false, true]
func.func @bools() -> (tensor<2xi32>, tensor<2xi32>, tensor<2xf32>, tensor<2xi1>) {
  %a = arith.constant dense<[true, false]> : tensor<2xi1>
  %true = arith.constant dense<true> : tensor<2xi1>
  %signed = arith.extsi %a : tensor<2xi1> to tensor<2xi32>
  %unsigned = arith.extui %a : tensor<2xi1> to tensor<2xi32>
  %float = arith.uitofp %a : tensor<2xi1> to tensor<2xf32>
  %not = arith.xori %a, %true : tensor<2xi1>
  return %signed, %unsigned, %float, %not : tensor<2xi32>, tensor<2xi32>, tensor<2xf32>, tensor<2xi1>
}

// CHECK-LABEL: @floats
// maximumf keeps a NaN, maxnumf drops it; ordered comparisons with NaN are false.
// CHECK: result0: tensor<2xf32> = [nan, 2]
// CHECK: result1: tensor<2xf32> = [1, 2]
// CHECK: result2: tensor<2xi1> = [false, false]
// CHECK: result3: tensor<2xi1> = [true, false]
// CHECK: result4: tensor<2xi32> = [1065353216, 1073741824]
func.func @floats() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xi1>, tensor<2xi1>, tensor<2xi32>) {
  %a = arith.constant dense<[0x7FC00000, 1.0]> : tensor<2xf32>
  %b = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %maximum = arith.maximumf %a, %b : tensor<2xf32>
  %maxnum = arith.maxnumf %a, %b : tensor<2xf32>
  %oge = arith.cmpf oge, %a, %b : tensor<2xf32>
  %uge = arith.cmpf uge, %a, %b : tensor<2xf32>
  %bits = arith.bitcast %b : tensor<2xf32> to tensor<2xi32>
  return %maximum, %maxnum, %oge, %uge, %bits : tensor<2xf32>, tensor<2xf32>, tensor<2xi1>, tensor<2xi1>, tensor<2xi32>
}

// CHECK-LABEL: @bf16
// 1 + 1/256 is no bf16: each op rounds; the sum of a reduction rounds once.
// CHECK: result0: tensor<bf16> = 1
// CHECK: result1: tensor<bf16> = 2
func.func @bf16() -> (tensor<bf16>, tensor<bf16>) {
  %one = arith.constant dense<1.0> : tensor<bf16>
  %small = arith.constant dense<0.00390625> : tensor<bf16>
  %y = arith.addf %one, %small : tensor<bf16>
  %x = arith.constant dense<0.00390625> : tensor<512xbf16>
  %s = tg.reduce sum %x dims [0] : tensor<512xbf16> -> tensor<bf16>
  return %y, %s : tensor<bf16>, tensor<bf16>
}
