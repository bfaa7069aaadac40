module {}
// -----
comm.mesh @mesh [dp = 2]
// -----
func.func @model(%x: tensor<4x3xf32> {tg.input = "x", tg.role = #tg.role<features>}, %y: tensor<4x1xf32> {tg.input = "y", tg.role = #tg.role<labels>},
                 %w: tensor<1x3xf32> {tg.param = #tg.param<"w", #tg.init<zeros>, unit = "1">}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %p = tg.contract "bi,oi->bo" %x, %w : (tensor<4x3xf32>, tensor<1x3xf32>) -> tensor<4x1xf32>
  %g = tg.silu %p : tensor<4x1xf32>
  %loss = tg.reduce mean %g dims [0, 1] : tensor<4x1xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
// -----
comm.mesh @mesh [dp = 2]
func.func @train(%x: tensor<4x4xf32> {tg.input = "x", comm.sharding = #comm.sharding<@mesh, {dp} {}>}) -> tensor<4x4xf32> {
  %y = tg.silu %x : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
// -----
comm.mesh @mesh [dp = 2]
func.func @f(%x: tensor<2x4xf32>) -> tensor<2x4xf32> attributes {comm.program = #comm.program<@mesh>} {
  %y = comm.all_reduce mean %x over @mesh {dp} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %g, %h = comm.all_gather %x, %x dims [0, 0] over @mesh {dp} : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  return %y : tensor<2x4xf32>
}
// -----
func.func @elementwise(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.addf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
