// A linear model, and what comm-noise-scale is to find for it: the gradients of the
// parts of the batch one by one.
func.func @model(%x: tensor<8x3xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %t: tensor<8x2xf32> {tg.input = "t", tg.role = #tg.role<labels>},
                 %w: tensor<3x2xf32> {tg.param = #tg.param<"w", #tg.init<normal, 0.0, 0.5>, unit = "1">},
                 %b: tensor<2xf32> {tg.param = #tg.param<"b", #tg.init<normal, 0.0, 0.5>, unit = "2">})
    -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %xw = tg.contract "bi,io->bo" %x, %w : (tensor<8x3xf32>, tensor<3x2xf32>) -> tensor<8x2xf32>
  %bs = tg.broadcast %b dims [1] : tensor<2xf32> -> tensor<8x2xf32>
  %y = arith.addf %xw, %bs : tensor<8x2xf32>
  %d = arith.subf %y, %t : tensor<8x2xf32>
  %q = arith.mulf %d, %d : tensor<8x2xf32>
  %loss = tg.reduce mean %q dims [0, 1] : tensor<8x2xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// Four ranks: the mean over 2 rows of 2 numbers of the gradient of d * d.
func.func private @four(%x: tensor<8x3xf32> {tg.input = "x"}, %t: tensor<8x2xf32> {tg.input = "t"},
                    %w: tensor<3x2xf32> {tg.param = #tg.param<"w", #tg.init<normal, 0.0, 0.5>, unit = "1">},
                    %b: tensor<2xf32> {tg.param = #tg.param<"b", #tg.init<normal, 0.0, 0.5>, unit = "2">})
    -> (tensor<f32> {tg.role = #tg.role<grad_sq_local>}, tensor<f32> {tg.role = #tg.role<grad_sq_global>}) {
  %xw = tg.contract "bi,io->bo" %x, %w : (tensor<8x3xf32>, tensor<3x2xf32>) -> tensor<8x2xf32>
  %bs = tg.broadcast %b dims [1] : tensor<2xf32> -> tensor<8x2xf32>
  %y = arith.addf %xw, %bs : tensor<8x2xf32>
  %d = arith.subf %y, %t : tensor<8x2xf32>
  %xr = tg.reshape %x : tensor<8x3xf32> -> tensor<4x2x3xf32>
  %dr = tg.reshape %d : tensor<8x2xf32> -> tensor<4x2x2xf32>
  %wr = tg.contract "rbi,rbo->rio" %xr, %dr : (tensor<4x2x3xf32>, tensor<4x2x2xf32>) -> tensor<4x3x2xf32>
  %br = tg.reduce sum %dr dims [1] : tensor<4x2x2xf32> -> tensor<4x2xf32>
  %wr2 = arith.mulf %wr, %wr : tensor<4x3x2xf32>
  %br2 = arith.mulf %br, %br : tensor<4x2xf32>
  %wrs = tg.reduce sum %wr2 dims [0, 1, 2] : tensor<4x3x2xf32> -> tensor<f32>
  %brs = tg.reduce sum %br2 dims [0, 1] : tensor<4x2xf32> -> tensor<f32>
  %rs = arith.addf %wrs, %brs : tensor<f32>
  %rc = arith.constant dense<0.0625> : tensor<f32>
  %local = arith.mulf %rs, %rc : tensor<f32>
  %wg = tg.contract "bi,bo->io" %x, %d : (tensor<8x3xf32>, tensor<8x2xf32>) -> tensor<3x2xf32>
  %bg = tg.reduce sum %d dims [0] : tensor<8x2xf32> -> tensor<2xf32>
  %wg2 = arith.mulf %wg, %wg : tensor<3x2xf32>
  %bg2 = arith.mulf %bg, %bg : tensor<2xf32>
  %wgs = tg.reduce sum %wg2 dims [0, 1] : tensor<3x2xf32> -> tensor<f32>
  %bgs = tg.reduce sum %bg2 dims [0] : tensor<2xf32> -> tensor<f32>
  %gs = arith.addf %wgs, %bgs : tensor<f32>
  %gc = arith.constant dense<0.015625> : tensor<f32>
  %global = arith.mulf %gs, %gc : tensor<f32>
  return %local, %global : tensor<f32>, tensor<f32>
}

// Two ranks with 4 rows each.
func.func private @two(%x: tensor<8x3xf32> {tg.input = "x"}, %t: tensor<8x2xf32> {tg.input = "t"},
                    %w: tensor<3x2xf32> {tg.param = #tg.param<"w", #tg.init<normal, 0.0, 0.5>, unit = "1">},
                    %b: tensor<2xf32> {tg.param = #tg.param<"b", #tg.init<normal, 0.0, 0.5>, unit = "2">})
    -> (tensor<f32> {tg.role = #tg.role<grad_sq_local>}, tensor<f32> {tg.role = #tg.role<grad_sq_global>}) {
  %xw = tg.contract "bi,io->bo" %x, %w : (tensor<8x3xf32>, tensor<3x2xf32>) -> tensor<8x2xf32>
  %bs = tg.broadcast %b dims [1] : tensor<2xf32> -> tensor<8x2xf32>
  %y = arith.addf %xw, %bs : tensor<8x2xf32>
  %d = arith.subf %y, %t : tensor<8x2xf32>
  %xr = tg.reshape %x : tensor<8x3xf32> -> tensor<2x4x3xf32>
  %dr = tg.reshape %d : tensor<8x2xf32> -> tensor<2x4x2xf32>
  %wr = tg.contract "rbi,rbo->rio" %xr, %dr : (tensor<2x4x3xf32>, tensor<2x4x2xf32>) -> tensor<2x3x2xf32>
  %br = tg.reduce sum %dr dims [1] : tensor<2x4x2xf32> -> tensor<2x2xf32>
  %wr2 = arith.mulf %wr, %wr : tensor<2x3x2xf32>
  %br2 = arith.mulf %br, %br : tensor<2x2xf32>
  %wrs = tg.reduce sum %wr2 dims [0, 1, 2] : tensor<2x3x2xf32> -> tensor<f32>
  %brs = tg.reduce sum %br2 dims [0, 1] : tensor<2x2xf32> -> tensor<f32>
  %rs = arith.addf %wrs, %brs : tensor<f32>
  %rc = arith.constant dense<0.03125> : tensor<f32>
  %local = arith.mulf %rs, %rc : tensor<f32>
  %wg = tg.contract "bi,bo->io" %x, %d : (tensor<8x3xf32>, tensor<8x2xf32>) -> tensor<3x2xf32>
  %bg = tg.reduce sum %d dims [0] : tensor<8x2xf32> -> tensor<2xf32>
  %wg2 = arith.mulf %wg, %wg : tensor<3x2xf32>
  %bg2 = arith.mulf %bg, %bg : tensor<2xf32>
  %wgs = tg.reduce sum %wg2 dims [0, 1] : tensor<3x2xf32> -> tensor<f32>
  %bgs = tg.reduce sum %bg2 dims [0] : tensor<2xf32> -> tensor<f32>
  %gs = arith.addf %wgs, %bgs : tensor<f32>
  %gc = arith.constant dense<0.015625> : tensor<f32>
  %global = arith.mulf %gs, %gc : tensor<f32>
  return %local, %global : tensor<f32>, tensor<f32>
}

// Four ranks and two microbatches of 4 rows.  A rank has added its row of the second
// to its part of the sum over the first; the interpreter deals that sum out as 2, -1/2,
// -1/4 and -1/4 of it.
func.func private @summed(%x: tensor<8x3xf32> {tg.input = "x"}, %t: tensor<8x2xf32> {tg.input = "t"},
                    %w: tensor<3x2xf32> {tg.param = #tg.param<"w", #tg.init<normal, 0.0, 0.5>, unit = "1">},
                    %b: tensor<2xf32> {tg.param = #tg.param<"b", #tg.init<normal, 0.0, 0.5>, unit = "2">})
    -> (tensor<f32> {tg.role = #tg.role<grad_sq_local>}) {
  %xw = tg.contract "bi,io->bo" %x, %w : (tensor<8x3xf32>, tensor<3x2xf32>) -> tensor<8x2xf32>
  %bs = tg.broadcast %b dims [1] : tensor<2xf32> -> tensor<8x2xf32>
  %y = arith.addf %xw, %bs : tensor<8x2xf32>
  %d = arith.subf %y, %t : tensor<8x2xf32>
  %xr = tg.reshape %x : tensor<8x3xf32> -> tensor<2x4x3xf32>
  %dr = tg.reshape %d : tensor<8x2xf32> -> tensor<2x4x2xf32>
  %wk = tg.contract "kri,kro->krio" %xr, %dr : (tensor<2x4x3xf32>, tensor<2x4x2xf32>) -> tensor<2x4x3x2xf32>
  // Each row of the first to all ranks, each of the second to its own.
  %parts = arith.constant dense<[[[2.0, 2.0, 2.0, 2.0], [-0.5, -0.5, -0.5, -0.5], [-0.25, -0.25, -0.25, -0.25],
                                  [-0.25, -0.25, -0.25, -0.25]],
                                 [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0],
                                  [0.0, 0.0, 0.0, 1.0]]]> : tensor<2x4x4xf32>
  %ws = tg.contract "ksr,krio->skio" %parts, %wk : (tensor<2x4x4xf32>, tensor<2x4x3x2xf32>) -> tensor<4x2x3x2xf32>
  %bk = tg.contract "ksr,kro->sko" %parts, %dr : (tensor<2x4x4xf32>, tensor<2x4x2xf32>) -> tensor<4x2x2xf32>
  %wr = tg.reduce sum %ws dims [1] : tensor<4x2x3x2xf32> -> tensor<4x3x2xf32>
  %br = tg.reduce sum %bk dims [1] : tensor<4x2x2xf32> -> tensor<4x2xf32>
  %wr2 = arith.mulf %wr, %wr : tensor<4x3x2xf32>
  %br2 = arith.mulf %br, %br : tensor<4x2xf32>
  %wrs = tg.reduce sum %wr2 dims [0, 1, 2] : tensor<4x3x2xf32> -> tensor<f32>
  %brs = tg.reduce sum %br2 dims [0, 1] : tensor<4x2xf32> -> tensor<f32>
  %rs = arith.addf %wrs, %brs : tensor<f32>
  %rc = arith.constant dense<0.0625> : tensor<f32>
  %local = arith.mulf %rs, %rc : tensor<f32>
  return %local : tensor<f32>
}

// The second microbatch is all that is seen: a row for each rank, from which follows
// what two would have, 3/7 of the way from all 8.
func.func private @last(%x: tensor<8x3xf32> {tg.input = "x"}, %t: tensor<8x2xf32> {tg.input = "t"},
                    %w: tensor<3x2xf32> {tg.param = #tg.param<"w", #tg.init<normal, 0.0, 0.5>, unit = "1">},
                    %b: tensor<2xf32> {tg.param = #tg.param<"b", #tg.init<normal, 0.0, 0.5>, unit = "2">})
    -> (tensor<f32> {tg.role = #tg.role<grad_sq_local>}, tensor<f32> {tg.role = #tg.role<grad_sq_global>}) {
  %xw = tg.contract "bi,io->bo" %x, %w : (tensor<8x3xf32>, tensor<3x2xf32>) -> tensor<8x2xf32>
  %bs = tg.broadcast %b dims [1] : tensor<2xf32> -> tensor<8x2xf32>
  %y = arith.addf %xw, %bs : tensor<8x2xf32>
  %d = arith.subf %y, %t : tensor<8x2xf32>
  %xl = tg.slice %x dim 0 offset 4 size 4 : tensor<8x3xf32> -> tensor<4x3xf32>
  %dl = tg.slice %d dim 0 offset 4 size 4 : tensor<8x2xf32> -> tensor<4x2xf32>
  %xr = tg.reshape %xl : tensor<4x3xf32> -> tensor<4x1x3xf32>
  %dr = tg.reshape %dl : tensor<4x2xf32> -> tensor<4x1x2xf32>
  %wr = tg.contract "rbi,rbo->rio" %xr, %dr : (tensor<4x1x3xf32>, tensor<4x1x2xf32>) -> tensor<4x3x2xf32>
  %br = tg.reduce sum %dr dims [1] : tensor<4x1x2xf32> -> tensor<4x2xf32>
  %wr2 = arith.mulf %wr, %wr : tensor<4x3x2xf32>
  %br2 = arith.mulf %br, %br : tensor<4x2xf32>
  %wrs = tg.reduce sum %wr2 dims [0, 1, 2] : tensor<4x3x2xf32> -> tensor<f32>
  %brs = tg.reduce sum %br2 dims [0, 1] : tensor<4x2xf32> -> tensor<f32>
  %rs = arith.addf %wrs, %brs : tensor<f32>
  %rc = arith.constant dense<0.25> : tensor<f32>
  %local = arith.mulf %rs, %rc : tensor<f32>
  %wg = tg.contract "bi,bo->io" %x, %d : (tensor<8x3xf32>, tensor<8x2xf32>) -> tensor<3x2xf32>
  %bg = tg.reduce sum %d dims [0] : tensor<8x2xf32> -> tensor<2xf32>
  %wg2 = arith.mulf %wg, %wg : tensor<3x2xf32>
  %bg2 = arith.mulf %bg, %bg : tensor<2xf32>
  %wgs = tg.reduce sum %wg2 dims [0, 1] : tensor<3x2xf32> -> tensor<f32>
  %bgs = tg.reduce sum %bg2 dims [0] : tensor<2xf32> -> tensor<f32>
  %gs = arith.addf %wgs, %bgs : tensor<f32>
  %gc = arith.constant dense<0.015625> : tensor<f32>
  %global = arith.mulf %gs, %gc : tensor<f32>
  %above = arith.subf %local, %global : tensor<f32>
  %slope = arith.constant dense<0.42857142857142855> : tensor<f32>
  %part = arith.mulf %above, %slope : tensor<f32>
  %estimate = arith.addf %global, %part : tensor<f32>
  return %estimate, %global : tensor<f32>, tensor<f32>
}
