// A bigram model of bytes: the next byte depends on the last one alone.  Written by hand.
//
// One parameter: row t of the table has the logits of what follows byte t.
module {
  func.func @model(
      %table: tensor<256x256xf32> {tg.param = #tg.param<"table", #tg.init<zeros>, unit = "table">},
      %tokens: tensor<32x64xi32>  {tg.input = "tokens", tg.role = #tg.role<tokens>},
      %targets: tensor<32x64xi32> {tg.input = "targets", tg.role = #tg.role<targets>})
      -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<32x64x256xf32> {tg.role = #tg.role<logits>}) {
    %logits = tg.gather %table, %tokens : (tensor<256x256xf32>, tensor<32x64xi32>) -> tensor<32x64x256xf32>
    %loss, %lse = tg.cross_entropy mean %logits, %targets ignore -100
        : (tensor<32x64x256xf32>, tensor<32x64xi32>) -> (tensor<f32>, tensor<32x64xf32>)
    return %loss, %logits : tensor<f32>, tensor<32x64x256xf32>
  }
}
