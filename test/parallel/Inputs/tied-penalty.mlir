func.func @model(%x: tensor<8x4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %t: tensor<8x4xf32> {tg.input = "t", tg.role = #tg.role<labels>},
                 %w: tensor<4x4xf32> {tg.param = #tg.param<"w", #tg.init<normal, 0.0, 0.5>>},
                 %v: tensor<4x4xf32> {tg.param = #tg.param<"v", #tg.init<normal, 0.0, 0.5>, unit = "1">},
                 %u: tensor<4x4xf32> {tg.param = #tg.param<"u", #tg.init<normal, 0.0, 0.5>, unit = "2">})
    -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %h0 = tg.contract "bi,io->bo" %x, %w : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %h1 = tg.contract "bi,io->bo" %h0, %v : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %a1 = tg.silu %h1 : tensor<8x4xf32>
  %h2 = tg.contract "bi,io->bo" %a1, %u : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %a2 = tg.silu %h2 : tensor<8x4xf32>
  %y = tg.contract "bi,io->bo" %a2, %w : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %d = arith.subf %y, %t : tensor<8x4xf32>
  %q = arith.mulf %d, %d : tensor<8x4xf32>
  %w2 = arith.mulf %w, %w : tensor<4x4xf32>
  %n = tg.reduce sum %w2 dims [0, 1] : tensor<4x4xf32> -> tensor<f32>
  %r = tg.broadcast %n dims [] : tensor<f32> -> tensor<8x4xf32>
  %p = arith.addf %q, %r : tensor<8x4xf32>
  %loss = tg.reduce mean %p dims [0, 1] : tensor<8x4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
