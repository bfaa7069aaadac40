// Gradients of contraction, movement and reduction agree with central
// differences.
//
// RUN: braid-interp %s --check-gradients

// One letter of each kind: batch b, contracted k, free m and n.
func.func @contract(%a: tensor<2x3x4xf64> {tg.input = "a", tg.grad}, %b: tensor<2x4x2xf64> {tg.input = "b", tg.grad},
                    %w: tensor<2x3x2xf64> {tg.input = "w"}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = tg.contract "bmk,bkn->bmn" %a, %b : (tensor<2x3x4xf64>, tensor<2x4x2xf64>) -> tensor<2x3x2xf64>
  %z = arith.mulf %y, %w : tensor<2x3x2xf64>
  %loss = tg.reduce sum %z dims [0, 1, 2] : tensor<2x3x2xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @contract_permuted(%a: tensor<4x2x3xf64> {tg.input = "a", tg.grad}, %b: tensor<2x5x4xf64> {tg.input = "b", tg.grad},
                             %w: tensor<5x3xf64> {tg.input = "w"}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = tg.contract "ksm,snk->nm" %a, %b : (tensor<4x2x3xf64>, tensor<2x5x4xf64>) -> tensor<5x3xf64>
  %z = arith.mulf %y, %w : tensor<5x3xf64>
  %loss = tg.reduce sum %z dims [0, 1] : tensor<5x3xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

// The same value on both sides.
func.func @contract_square(%a: tensor<3x3xf64> {tg.input = "a", tg.grad}, %w: tensor<3x3xf64> {tg.input = "w"}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = tg.contract "ik,kj->ij" %a, %a : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
  %z = arith.mulf %y, %w : tensor<3x3xf64>
  %loss = tg.reduce sum %z dims [0, 1] : tensor<3x3xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

// A new dim, a kept dim, and a dim of size 1 that is repeated.
func.func @broadcast(%x: tensor<3x1xf64> {tg.input = "x", tg.grad}, %w: tensor<3x2x4xf64> {tg.input = "w"}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = tg.broadcast %x dims [0, 2] : tensor<3x1xf64> -> tensor<3x2x4xf64>
  %z = arith.mulf %y, %w : tensor<3x2x4xf64>
  %loss = tg.reduce sum %z dims [0, 1, 2] : tensor<3x2x4xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @reduce_sum(%x: tensor<2x3x4xf64> {tg.input = "x", tg.grad}, %w: tensor<3xf64> {tg.input = "w"}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = tg.reduce sum %x dims [0, 2] : tensor<2x3x4xf64> -> tensor<3xf64>
  %z = arith.mulf %y, %w : tensor<3xf64>
  %loss = tg.reduce sum %z dims [0] : tensor<3xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @reduce_mean(%x: tensor<2x3x4xf64> {tg.input = "x", tg.grad}, %w: tensor<2x4xf64> {tg.input = "w"}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = tg.reduce mean %x dims [1] : tensor<2x3x4xf64> -> tensor<2x4xf64>
  %z = arith.mulf %y, %w : tensor<2x4xf64>
  %loss = tg.reduce mean %z dims [0, 1] : tensor<2x4xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @reduce_max(%x: tensor<3x5xf64> {tg.input = "x", tg.grad}, %w: tensor<3xf64> {tg.input = "w"}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = tg.reduce max %x dims [1] : tensor<3x5xf64> -> tensor<3xf64>
  %z = arith.mulf %y, %w : tensor<3xf64>
  %loss = tg.reduce sum %z dims [0] : tensor<3xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @transpose(%x: tensor<2x3x4xf64> {tg.input = "x", tg.grad}, %w: tensor<4x2x3xf64> {tg.input = "w"}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = tg.transpose %x [2, 0, 1] : tensor<2x3x4xf64> -> tensor<4x2x3xf64>
  %z = arith.mulf %y, %w : tensor<4x2x3xf64>
  %loss = tg.reduce sum %z dims [0, 1, 2] : tensor<4x2x3xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @reshape(%x: tensor<2x6xf64> {tg.input = "x", tg.grad}, %w: tensor<3x4xf64> {tg.input = "w"}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = tg.reshape %x : tensor<2x6xf64> -> tensor<3x4xf64>
  %z = arith.mulf %y, %w : tensor<3x4xf64>
  %loss = tg.reduce sum %z dims [0, 1] : tensor<3x4xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @slice(%x: tensor<2x6xf64> {tg.input = "x", tg.grad}, %w: tensor<2x3xf64> {tg.input = "w"}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = tg.slice %x dim 1 offset 2 size 3 : tensor<2x6xf64> -> tensor<2x3xf64>
  %z = arith.mulf %y, %w : tensor<2x3xf64>
  %loss = tg.reduce sum %z dims [0, 1] : tensor<2x3xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

// The stride's zeros end inside the operand.
func.func @slice_stride(%x: tensor<9x2xf64> {tg.input = "x", tg.grad}, %w: tensor<2x2xf64> {tg.input = "w"}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = tg.slice %x dim 0 offset 1 size 2 stride 3 : tensor<9x2xf64> -> tensor<2x2xf64>
  %z = arith.mulf %y, %w : tensor<2x2xf64>
  %loss = tg.reduce sum %z dims [0, 1] : tensor<2x2xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

// The stride's zeros reach beyond the operand.
func.func @slice_stride_to_end(%x: tensor<8x2xf64> {tg.input = "x", tg.grad}, %w: tensor<3x2xf64> {tg.input = "w"}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = tg.slice %x dim 0 offset 1 size 3 stride 3 : tensor<8x2xf64> -> tensor<3x2xf64>
  %z = arith.mulf %y, %w : tensor<3x2xf64>
  %loss = tg.reduce sum %z dims [0, 1] : tensor<3x2xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

// Neighbouring, overlapping and separate slices of one value.
func.func @slices(%x: tensor<2x9xf64> {tg.input = "x", tg.grad}, %w: tensor<2x3xf64> {tg.input = "w"}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %a = tg.slice %x dim 1 offset 0 size 3 : tensor<2x9xf64> -> tensor<2x3xf64>
  %b = tg.slice %x dim 1 offset 3 size 3 : tensor<2x9xf64> -> tensor<2x3xf64>
  %c = tg.slice %x dim 1 offset 6 size 3 : tensor<2x9xf64> -> tensor<2x3xf64>
  %d = tg.slice %x dim 1 offset 2 size 3 : tensor<2x9xf64> -> tensor<2x3xf64>
  %ab = arith.mulf %a, %b : tensor<2x3xf64>
  %cd = arith.mulf %c, %d : tensor<2x3xf64>
  %y = arith.subf %ab, %cd : tensor<2x3xf64>
  %z = arith.mulf %y, %w : tensor<2x3xf64>
  %loss = tg.reduce sum %z dims [0, 1] : tensor<2x3xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @concat(%a: tensor<2x2xf64> {tg.input = "a", tg.grad}, %b: tensor<2x3xf64> {tg.input = "b"}, %c: tensor<2x1xf64> {tg.input = "c", tg.grad},
                  %w: tensor<2x6xf64> {tg.input = "w"}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = tg.concat %a, %b, %c dim 1 : (tensor<2x2xf64>, tensor<2x3xf64>, tensor<2x1xf64>) -> tensor<2x6xf64>
  %z = arith.mulf %y, %w : tensor<2x6xf64>
  %loss = tg.reduce sum %z dims [0, 1] : tensor<2x6xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

// A permutation that is not its own inverse.
func.func @reorder(%x: tensor<2x6xf64> {tg.input = "x", tg.grad}, %w: tensor<2x6xf64> {tg.input = "w"}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = tg.reorder %x dim 1 order [1, 2, 0] : tensor<2x6xf64>
  %z = arith.mulf %y, %w : tensor<2x6xf64>
  %loss = tg.reduce sum %z dims [0, 1] : tensor<2x6xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @pad(%x: tensor<2x3xf64> {tg.input = "x", tg.grad}, %w: tensor<2x6xf64> {tg.input = "w"}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %y = tg.pad %x dim 1 low 1 high 2 value 0.5 : tensor<2x3xf64> -> tensor<2x6xf64>
  %z = arith.mulf %y, %w : tensor<2x6xf64>
  %loss = tg.reduce sum %z dims [0, 1] : tensor<2x6xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

// Row 1 is read twice, row 2 never.
func.func @gather(%t: tensor<4x3xf64> {tg.input = "t", tg.grad}, %w: tensor<2x2x3xf64> {tg.input = "w"}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %i = arith.constant dense<[[1, 0], [3, 1]]> : tensor<2x2xi32>
  %y = tg.gather %t, %i : (tensor<4x3xf64>, tensor<2x2xi32>) -> tensor<2x2x3xf64>
  %z = arith.mulf %y, %w : tensor<2x2x3xf64>
  %loss = tg.reduce sum %z dims [0, 1, 2] : tensor<2x2x3xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @scatter_add(%u: tensor<4x3xf64> {tg.input = "u", tg.grad}, %w: tensor<5x3xf64> {tg.input = "w"}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %i = arith.constant dense<[1, 0, 3, 1]> : tensor<4xi64>
  %y = tg.scatter_add %i, %u : (tensor<4xi64>, tensor<4x3xf64>) -> tensor<5x3xf64>
  %q = arith.mulf %y, %y : tensor<5x3xf64>
  %z = arith.mulf %q, %w : tensor<5x3xf64>
  %loss = tg.reduce sum %z dims [0, 1] : tensor<5x3xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @hook(%x: tensor<3xf64> {tg.input = "x", tg.grad}, %w: tensor<3xf64> {tg.input = "w"}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %h = tg.hook %x "x" order 0 : tensor<3xf64>
  %y = arith.mulf %h, %h : tensor<3xf64>
  %z = arith.mulf %y, %w : tensor<3xf64>
  %loss = tg.reduce sum %z dims [0] : tensor<3xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

func.func @convert(%x: tensor<3xf64> {tg.input = "x", tg.grad}, %w: tensor<3xf64> {tg.input = "w"}) -> (tensor<f64> {tg.role = #tg.role<loss>}) {
  %n = tg.convert %x : tensor<3xf64> -> tensor<3xf64>
  %z = arith.mulf %n, %w : tensor<3xf64>
  %loss = tg.reduce sum %z dims [0] : tensor<3xf64> -> tensor<f64>
  return %loss : tensor<f64>
}
