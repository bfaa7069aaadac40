// Two layers, a unit each, on a batch of eight rows: what the strategy-* tests train.
func.func @model(%x: tensor<8x6xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %t: tensor<8x3xf32> {tg.input = "t", tg.role = #tg.role<labels>},
                 %w1: tensor<6x5xf32> {tg.param = #tg.param<"w1", #tg.init<normal, 0.0, 0.5>, unit = "1">},
                 %w2: tensor<5x3xf32> {tg.param = #tg.param<"w2", #tg.init<normal, 0.0, 0.5>, unit = "2">})
    -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %h = tg.contract "bi,io->bo" %x, %w1 : (tensor<8x6xf32>, tensor<6x5xf32>) -> tensor<8x5xf32>
  %a = tg.gelu tanh %h : tensor<8x5xf32>
  %y = tg.contract "bi,io->bo" %a, %w2 : (tensor<8x5xf32>, tensor<5x3xf32>) -> tensor<8x3xf32>
  %d = arith.subf %y, %t : tensor<8x3xf32>
  %q = arith.mulf %d, %d : tensor<8x3xf32>
  %loss = tg.reduce mean %q dims [0, 1] : tensor<8x3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
