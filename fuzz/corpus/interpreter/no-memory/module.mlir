
comm.mesh @mesh [dp = 4]

func.func @model(%x: tensor<8x2147483648xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %w: tensor<2147483648xf32> {tg.param = #tg.param<"w", #tg.init<normal, 0.0, 0.5>>},
                 %mean: tensor<2147483648xf32> {tg.state = #tg.state<"running_mean", #tg.init<zeros>, kind = running_statistic>},
                 %batches: tensor<i32> {tg.state = #tg.state<"batches", #tg.init<zeros>, kind = running_statistic>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<2147483648xf32> {tg.updates = "running_mean"},
        tensor<i32> {tg.updates = "batches"}) {
  %rows = tg.broadcast %mean dims [1] : tensor<2147483648xf32> -> tensor<8x2147483648xf32>
  %centered = arith.subf %x, %rows : tensor<8x2147483648xf32>
  %y = tg.contract "bi,i->b" %centered, %w : (tensor<8x2147483648xf32>, tensor<2147483648xf32>) -> tensor<8xf32>
  %q = arith.mulf %y, %y : tensor<8xf32>
  %loss = tg.reduce mean %q dims [0] : tensor<8xf32> -> tensor<f32>
  %now = tg.reduce mean %x dims [0] : tensor<8x2147483648xf32> -> tensor<2147483648xf32>
  %keep = arith.constant dense<0.9> : tensor<2147483648xf32>
  %take = arith.constant dense<0.1> : tensor<2147483648xf32>
  %old = arith.mulf %mean, %keep : tensor<2147483648xf32>
  %new = arith.mulf %now, %take : tensor<2147483648xf32>
  %moved = arith.addf %old, %new : tensor<2147483648xf32>
  %one = arith.constant dense<1> : tensor<i32>
  %count = arith.addi %batches, %one : tensor<i32>
  return %loss, %moved, %count : tensor<f32>, tensor<2147483648xf32>, tensor<i32>
}
