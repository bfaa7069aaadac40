// Actions on values compute what their definitions say, by numbers small enough
// to check by hand.
//
// RUN: braid-interp %s --set x=2 --set w=3 --set b=1 --set ids=1 | FileCheck %s

// CHECK-LABEL: @kernel
// Each element plus its row and ten times its lane, and the sum of each row.
// CHECK: result0: tensor<2x3xf32> = {{\[\[}}2, 12, 22], [3, 13, 23]]
// CHECK: result1: tensor<2xf32> = [36, 39]
func.func @kernel(%x: tensor<2x3xf32> {tg.input = "x"}) -> (tensor<2x3xf32>, tensor<2xf32>) {
  %y, %s = exec.kernel "index_sum"(%x) space [2, 3] : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2xf32>) {
  ^bb0(%a: tensor<2x3xf32>):
    %zero = arith.constant 0.0 : f32
    %ten = arith.constant 10.0 : f32
    %e = tensor.empty() : tensor<2x3xf32>
    %er = tensor.empty() : tensor<2xf32>
    %z = linalg.fill ins(%zero : f32) outs(%er : tensor<2xf32>) -> tensor<2xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
        ins(%a : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
    ^bb0(%u: f32, %o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %i32 = arith.index_cast %i : index to i32
      %j32 = arith.index_cast %j : index to i32
      %fi = arith.sitofp %i32 : i32 to f32
      %fj = arith.sitofp %j32 : i32 to f32
      %m = arith.mulf %fj, %ten : f32
      %p = arith.addf %u, %fi : f32
      %q = arith.addf %p, %m : f32
      linalg.yield %q : f32
    } -> tensor<2x3xf32>
    %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"], exec.dims = array<i64: 0, 1>}
        ins(%r : tensor<2x3xf32>) outs(%z : tensor<2xf32>) {
    ^bb0(%u: f32, %o: f32):
      %q = arith.addf %u, %o : f32
      linalg.yield %q : f32
    } -> tensor<2xf32>
    exec.yield %r, %t : tensor<2x3xf32>, tensor<2xf32>
  }
  return %y, %s : tensor<2x3xf32>, tensor<2xf32>
}

// CHECK-LABEL: @random
// The numbers of tg.random_uniform, element by element.
// CHECK: result0: tensor<2x3xi1> = {{\[\[}}true, true, true], [true, true, true]]
func.func @random(%key: tensor<4xi32> {tg.input = "key", tg.role = #tg.role<key>}) -> tensor<2x3xi1> {
  %u = tg.random_uniform %key stream 5 : tensor<4xi32> -> tensor<2x3xf32>
  %v = exec.kernel "random"(%key) space [2, 3] : (tensor<4xi32>) -> tensor<2x3xf32> {
  ^bb0(%k: tensor<4xi32>):
    %e = tensor.empty() : tensor<2x3xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
        outs(%e : tensor<2x3xf32>) {
    ^bb0(%o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %q = exec.random_uniform %k[%i, %j] strides [3, 1] count 6 stream 5 : tensor<4xi32>, f32
      linalg.yield %q : f32
    } -> tensor<2x3xf32>
    exec.yield %r : tensor<2x3xf32>
  }
  %same = arith.cmpf oeq, %u, %v : tensor<2x3xf32>
  return %same : tensor<2x3xi1>
}

// CHECK-LABEL: @matmul
// The sum of 3 times 2 * 3, plus the bias, through the epilogue; then again onto
// the accumulator.
// CHECK: result0: tensor<2x2xf32> = {{\[\[}}19, 19], [19, 19]]
// CHECK: result1: tensor<2x2xf32> = {{\[\[}}20, 20], [20, 20]]
func.func @matmul(%x: tensor<2x3xf32> {tg.input = "x"}, %w: tensor<2x3xf32> {tg.input = "w"}, %b: tensor<2xf32> {tg.input = "b"})
    -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %y = exec.matmul "mk,nk->mn" (%x, %w bias %b : tensor<2xf32>) epilogue silu : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x2xf32>
  %two = arith.constant dense<2.0> : tensor<2x2xf32>
  %z = exec.matmul "mk,nk->mn" (%x, %w acc %two : tensor<2x2xf32>) : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x2xf32>
  return %y, %z : tensor<2x2xf32>, tensor<2x2xf32>
}

// CHECK-LABEL: @bias_grad
// The operands are twos and threes: the matmul onto the accumulator, and the sum of each
// column, onto nothing.
// CHECK: result0: tensor<2x2xf32> = {{\[\[}}20, 20], [20, 20]]
// CHECK: result1: tensor<2xf32> = [9, 9]
// CHECK: result2: tensor<2xf32> = [6, 6]
func.func @bias_grad(%x: tensor<3x2xf32> {tg.input = "x"}, %w: tensor<3x2xf32> {tg.input = "w"})
    -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %two = arith.constant dense<2.0> : tensor<2x2xf32>
  %y, %s = exec.matmul "kd,ke->ed" (%x, %w acc %two : tensor<2x2xf32>) bias_grad rhs : tensor<3x2xf32>, tensor<3x2xf32> -> tensor<2x2xf32>, tensor<2xf32>
  %z, %t = exec.matmul "kd,ke->ed" (%x, %w) bias_grad lhs : tensor<3x2xf32>, tensor<3x2xf32> -> tensor<2x2xf32>, tensor<2xf32>
  return %y, %s, %t : tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: @addend
// The same sum and the bias, onto fives.
// CHECK: result0: tensor<2x2xf32> = {{\[\[}}24, 24], [24, 24]]
func.func @addend(%x: tensor<2x3xf32> {tg.input = "x"}, %w: tensor<2x3xf32> {tg.input = "w"}, %b: tensor<2xf32> {tg.input = "b"}) -> tensor<2x2xf32> {
  %five = arith.constant dense<5.0> : tensor<2x2xf32>
  %y = exec.matmul "mk,nk->mn" (%x, %w bias %b : tensor<2xf32> addend %five : tensor<2x2xf32>) : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// CHECK-LABEL: @rows
// CHECK: result0: tensor<3x2xf32> = {{\[\[}}3, 4], [3, 4], [3, 4]]
// CHECK: result1: tensor<2x2xf32> = {{\[\[}}1, 2], [12, 16]]
func.func @rows(%ids: tensor<3xi32> {tg.input = "ids"}) -> (tensor<3x2xf32>, tensor<2x2xf32>) {
  %table = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %y = exec.gather(%table, %ids) : (tensor<2x2xf32>, tensor<3xi32>) -> tensor<3x2xf32>
  %z = exec.scatter_add(%ids, %y acc %table : tensor<2x2xf32>) : (tensor<3xi32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return %y, %z : tensor<3x2xf32>, tensor<2x2xf32>
}

// CHECK-LABEL: @views
// Columns 1 and 2 transposed; a row repeated; the two side by side.
// CHECK: result0: tensor<2x2xf32> = {{\[\[}}2, 5], [3, 6]]
// CHECK: result1: tensor<2x3xf32> = {{\[\[}}4, 5, 6], [4, 5, 6]]
// CHECK: result2: tensor<2x5xf32> = {{\[\[}}2, 5, 4, 5, 6], [3, 6, 4, 5, 6]]
func.func @views() -> (tensor<2x2xf32>, tensor<2x3xf32>, tensor<2x5xf32>) {
  %x = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %t = exec.view %x offset 1 strides [1, 3] : tensor<2x3xf32> -> tensor<2x2xf32>
  %r = exec.view %x offset 3 strides [0, 1] : tensor<2x3xf32> -> tensor<2x3xf32>
  %c = exec.concat %t, %r dim 1 : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x5xf32>
  return %t, %r, %c : tensor<2x2xf32>, tensor<2x3xf32>, tensor<2x5xf32>
}
