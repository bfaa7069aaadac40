func.func @model(%x: tensor<4x6xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %kind: tensor<4xi32> {tg.input = "kind", tg.role = #tg.role<features>},
                 %labels: tensor<4xi32> {tg.input = "labels", tg.role = #tg.role<labels>},
                 %table: tensor<7x6xf32> {tg.param = #tg.param<"table", #tg.init<normal, 0.0, 0.1>>},
                 %w: tensor<5x6xf32> {tg.param = #tg.param<"w", #tg.init<normal, 0.0, 0.1>>}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %e = tg.gather %table, %kind : (tensor<7x6xf32>, tensor<4xi32>) -> tensor<4x6xf32>
  %h = arith.addf %x, %e : tensor<4x6xf32>
  %l = tg.contract "bi,oi->bo" %h, %w : (tensor<4x6xf32>, tensor<5x6xf32>) -> tensor<4x5xf32>
  %loss, %lse = tg.cross_entropy mean %l, %labels ignore -100 : (tensor<4x5xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}
