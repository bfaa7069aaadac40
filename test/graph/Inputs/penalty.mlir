// A mean of losses beside a penalty of weights and a mean over all examples, for tests of whole steps.
func.func @model(%x: tensor<8x5xf32> {tg.input = "x", tg.role = #tg.role<features>}, %y: tensor<8xi32> {tg.input = "y", tg.role = #tg.role<labels>},
   %w: tensor<3x5xf32> {tg.param = #tg.param<"w", #tg.init<normal, 0.0, 0.5>>}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %l = tg.contract "bi,oi->bo" %x, %w : (tensor<8x5xf32>, tensor<3x5xf32>) -> tensor<8x3xf32>
  %ce, %lse = tg.cross_entropy mean %l, %y ignore -100 : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  %q = arith.mulf %w, %w : tensor<3x5xf32>
  %p = tg.reduce sum %q dims [0, 1] : tensor<3x5xf32> -> tensor<f32>
  %s = arith.mulf %l, %l : tensor<8x3xf32>
  %z = tg.reduce mean %s dims [0, 1] : tensor<8x3xf32> -> tensor<f32>
  %0 = arith.addf %p, %ce : tensor<f32>
  %loss = arith.addf %0, %z : tensor<f32>
  return %loss : tensor<f32>
}
