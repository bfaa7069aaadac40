// A two-layer perceptron that learns a curve: written by hand, read by braidc.
//
// Arguments say what they are.  #tg.param names a parameter, gives its initial
// values and the unit it belongs to; tg.input names data, tg.role says how the
// training binary feeds it.  Weights are out x in.
module {
  func.func @model(
      %w0: tensor<32x1xf32> {tg.param = #tg.param<"hidden.weight", #tg.init<normal, 0.0, 1.0>, unit = "hidden">},
      %b0: tensor<32xf32>   {tg.param = #tg.param<"hidden.bias", #tg.init<uniform, -1.0, 1.0>, unit = "hidden">},
      %w1: tensor<1x32xf32> {tg.param = #tg.param<"out.weight", #tg.init<normal, 0.0, 0.2>, unit = "out">},
      %b1: tensor<1xf32>    {tg.param = #tg.param<"out.bias", #tg.init<zeros>, unit = "out">},
      %x: tensor<64x1xf32>  {tg.input = "x", tg.role = #tg.role<features>},
      %t: tensor<64x1xf32>  {tg.input = "t", tg.role = #tg.role<labels>})
      -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<64x1xf32> {tg.output = "prediction"}) {
    // h = gelu(x w0ᵀ + b0): the letters name dimensions, as in einsum.
    %xw = tg.contract "bi,oi->bo" %x, %w0 : (tensor<64x1xf32>, tensor<32x1xf32>) -> tensor<64x32xf32>
    %b0s = tg.broadcast %b0 dims [1] : tensor<32xf32> -> tensor<64x32xf32>
    %h0 = arith.addf %xw, %b0s : tensor<64x32xf32>
    %h = tg.gelu tanh %h0 : tensor<64x32xf32>
    // y = h w1ᵀ + b1
    %hw = tg.contract "bi,oi->bo" %h, %w1 : (tensor<64x32xf32>, tensor<1x32xf32>) -> tensor<64x1xf32>
    %b1s = tg.broadcast %b1 dims [1] : tensor<1xf32> -> tensor<64x1xf32>
    %y = arith.addf %hw, %b1s : tensor<64x1xf32>
    // The loss is the mean squared error; braidc differentiates it.
    %e = arith.subf %y, %t : tensor<64x1xf32>
    %sq = arith.mulf %e, %e : tensor<64x1xf32>
    %loss = tg.reduce mean %sq dims [0, 1] : tensor<64x1xf32> -> tensor<f32>
    return %loss, %y : tensor<f32>, tensor<64x1xf32>
  }
}
