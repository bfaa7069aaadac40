func.func @model(%rows: tensor<300007x8xf32> {tg.input = "rows", tg.role = #tg.role<features>},
                 %even: tensor<131072x4xf32> {tg.input = "even", tg.role = #tg.role<features>},
                 %lanes: tensor<3x1048579xf32> {tg.input = "lanes", tg.role = #tg.role<features>},
                 %all: tensor<1000003xf32> {tg.input = "all", tg.role = #tg.role<features>},
                 %w: tensor<8xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                 %v: tensor<4xf32> {tg.param = #tg.param<"v", #tg.init<ones>>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<3xf32> {tg.output = "sum"}, tensor<3xf32> {tg.output = "exp"}, tensor<1xf32> {tg.output = "total"}) {
  %wb = tg.broadcast %w dims [1] : tensor<8xf32> -> tensor<300007x8xf32>
  %y = arith.mulf %rows, %wb : tensor<300007x8xf32>
  %y2 = arith.mulf %y, %y : tensor<300007x8xf32>
  %a = tg.reduce mean %y2 dims [0, 1] : tensor<300007x8xf32> -> tensor<f32>
  %vb = tg.broadcast %v dims [1] : tensor<4xf32> -> tensor<131072x4xf32>
  %z = arith.mulf %even, %vb : tensor<131072x4xf32>
  %b = tg.reduce mean %z dims [0, 1] : tensor<131072x4xf32> -> tensor<f32>
  %loss = arith.addf %a, %b : tensor<f32>
  %sum = tg.reduce sum %lanes dims [1] : tensor<3x1048579xf32> -> tensor<3xf32>
  %e = math.exp %lanes : tensor<3x1048579xf32>
  %exp = tg.reduce mean %e dims [1] : tensor<3x1048579xf32> -> tensor<3xf32>
  %every = tg.reduce mean %all dims [0] : tensor<1000003xf32> -> tensor<f32>
  %total = tg.reshape %every : tensor<f32> -> tensor<1xf32>
  return %loss, %sum, %exp, %total : tensor<f32>, tensor<3xf32>, tensor<3xf32>, tensor<1xf32>
}
